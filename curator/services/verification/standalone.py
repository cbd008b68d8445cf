"""Verify an exported record without the product that made it: plain Python 3.11 or newer, nothing else is needed.

    python3 verify_record.py record.ndjson [--anchor receipts.jsonl ...]

The record is what "Export" downloads: each event's hashed bytes with its place in its chain, and one closing line per chain.
Anchors are lines {"at", "chain", "head", "seq", "spent"} noted elsewhere: receipts of answers, heads sent by e-mail or kept in a
file. Checked are the chains, their closing lines and anchors, the order of times, and all arithmetic of the contracts: totals,
their split, allotments, prices of accuracies, credit of history, residuals, charges, the cost of the noise, every balance, that
each question ends once and nobody decides their own request. Not replayed here (`manage.py verify` does): the weights of a scarce
question, and that a question's text means its regions. Without an anchor, a record that was cut or rewritten as a whole, before
it was exported, cannot be told from an honest one. Exit 0: no difference; 1: the first difference is printed; 2: wrong usage.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from fractions import Fraction
from hashlib import sha256
from heapq import nlargest
from statistics import NormalDist
from typing import Any

GENESIS = "0" * 64
UNIT = 10**12  # units of a rho
CLOCKS = timedelta(minutes=10)  # two writers' clocks may differ by so much
LINE = re.compile(
    rb'\{"chain":"([0-9a-z-]{1,36})","seq":(\d{1,18}),"previous":"([0-9a-f]{64})","head":"([0-9a-f]{64})","body":(\{.*\})\}\n'
)
NOTED = {"at", "chain", "head", "seq", "spent"}  # and, in a receipt, the contract's "state"
ENDS = {"query.decided", "query.cancelled", "query.failed"}


class Difference(Exception):
    """The first place at which the record contradicts itself, or an anchor."""


def require(held: bool, place: str, detail: str) -> None:
    """Raise Difference unless something holds."""
    if not held:
        raise Difference(f"{place}: {detail}")


def same(place: str, what: str, found: object, expected: object) -> None:
    """Raise Difference unless the record says what follows from the rest of it."""
    require(found == expected, place, f"{what} is {found!r}, expected {expected!r}")


def noted(text: bytes, place: str) -> dict[str, Any]:
    """One line that notes a head."""
    try:
        found = json.loads(text)
    except ValueError:
        raise Difference(f"{place}: neither an event nor a noted head") from None
    require(isinstance(found, dict) and set(found) - {"state"} == NOTED, place, "neither an event nor a noted head")
    whole = all(type(found[name]) is int for name in ("seq", "spent"))
    require(whole and all(type(found[name]) is str for name in ("at", "chain", "head")), place, "a noted head of the wrong kinds")
    return dict(found)


class Contract:
    """What one chain amounts to so far."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.state = ""
        self.spent = self.est_spent = 0
        self.own: Counter[str] = Counter()  # charged to an analyst's allotment
        self.allotments: dict[str, int | None] = {}
        self.places: set[str] = set()  # analysts who may ask now
        self.credit: Counter[str] = Counter()  # descriptor -> support released
        self.asked: dict[str, dict[str, Any]] = {}
        self.ended: set[str] = set()
        self.releases: set[str] = set()
        self.raises: dict[str, tuple[int, int, str]] = {}  # proposed: before, after, by whom
        self.requests: dict[str, str] = {}  # request -> who asked; "" once it is decided

    def apply(self, place: str, body: dict[str, Any]) -> bool:
        """Replay one event; False for a kind that has no part in any balance."""
        kind, data = body["kind"], body["data"]
        step = getattr(self, "on_" + kind.replace(".", "_"), None)
        if step is not None:
            step(place, data, body)
        if kind in ENDS:
            require(body["query"] in self.asked, place, "it ends a question that nobody asked")
            require(body["query"] not in self.ended, place, "the question had ended before")
            self.ended.add(body["query"])
        return step is not None or kind in ENDS

    def on_contract_drafted(self, place: str, data: dict[str, Any], _: dict[str, Any]) -> None:
        """Settings: the split into two accounts."""
        self.settings = dict(data["settings"])
        self.split(place)
        self.state = "draft"

    def on_contract_opened(self, place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """From now on questions may be charged."""
        self.on_contract_drafted(place, data, body)
        self.state = "open"

    def on_contract_raise_proposed(self, place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """A larger total that another curator decides on."""
        same(place, "before", data["before"], self.settings["rho_total"])
        self.raises[data["raise"]] = data["before"], data["after"], body["actor"]

    def on_contract_raise_rejected(self, place: str, data: dict[str, Any], _: dict[str, Any]) -> None:
        """The total stays; whoever proposed it may withdraw it."""
        same(place, "before and after", (data["before"], data["after"]), self.raises.pop(data["raise"])[:2])

    def on_contract_raised(self, place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """A larger total, as it was proposed if it was."""
        proposed = self.raises.pop(data["raise"], (data["before"], data["after"], ""))
        same(place, "before and after", (data["before"], data["after"]), proposed[:2])
        require(proposed[2] != body["actor"], place, "somebody decided their own proposal")
        same(place, "before", data["before"], self.settings["rho_total"])
        require(data["after"] > data["before"], place, "a raise goes upwards")
        self.settings |= {"rho_total": data["after"], "rho_est": data["rho_est"], "rho_ans": data["rho_ans"]}
        self.split(place)

    def split(self, place: str) -> None:
        """rho_est is floor(xi * rho_total), rho_ans the rest."""
        total, est = self.settings["rho_total"], int(Fraction(self.settings["xi"]) * self.settings["rho_total"])
        same(place, "the split", (self.settings["rho_est"], self.settings["rho_ans"]), (est, total - est))

    def on_contract_state(self, place: str, data: dict[str, Any], _: dict[str, Any]) -> None:
        """Frozen, opened again, closed."""
        same(place, "before", data["before"], self.state)
        self.state = data["after"]

    def on_contract_reconciled(self, place: str, data: dict[str, Any], _: dict[str, Any]) -> None:
        """Charges that only a receipt knows of, after an older copy of the record was restored."""
        same(place, "balances before", (data["spent_before"], data["est_before"]), (self.spent, self.est_spent))
        require(min(data["ans"], data["est"]) >= 0, place, "nothing is ever given back")
        self.spent, self.est_spent = self.spent + data["ans"], self.est_spent + data["est"]
        self.within(place)

    def on_allotment_set(self, place: str, data: dict[str, Any], _: dict[str, Any]) -> None:
        """What an analyst may spend."""
        same(place, "before", data["before"], self.allotments.get(data["analyst"], 0))
        spent = self.own[data["analyst"]]
        require(data["after"] is None or data["after"] >= spent, place, "an allotment below what is spent")
        self.allotments[data["analyst"]] = data["after"]

    def on_member_added(self, _place: str, data: dict[str, Any], _: dict[str, Any]) -> None:
        """Somebody may ask, from now on."""
        if data["role"] == "analyst":
            self.places.add(data["user"])

    def on_member_removed(self, _place: str, data: dict[str, Any], _: dict[str, Any]) -> None:
        """Somebody may not ask any longer."""
        if data["role"] == "analyst":
            self.places.discard(data["user"])

    def on_budget_requested(self, _place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """Somebody asks for more."""
        self.requests[data["request"]] = body["actor"]

    def on_budget_approved(self, place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """A request is decided once, and by somebody else."""
        asker = self.requests.get(data["request"], "")
        require(bool(asker), place, "it decides a request that does not wait")
        require(body["actor"] != asker, place, "somebody decided their own request")
        self.requests[data["request"]] = ""

    on_budget_rejected = on_budget_approved

    def on_query_submitted(self, place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """A question: each bin's price follows from the accuracy asked for."""
        require(body["query"] not in self.asked, place, "the same question twice")
        price = price_of(data["accuracy"], len(data["bins"]))
        same(place, "rho_min", data["rho_min"], [0 if digest is None else price for digest in data["bins"]])
        self.asked[body["query"]] = data

    def on_diagnostic_released(self, place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """Noisy counts out of the small account, charged before the decision that needs them."""
        require(body["query"] in self.asked and body["query"] not in self.ended, place, "its question does not wait")
        rho_d, k = self.settings["rho_d"], self.settings["k"]
        same(place, "rho_d and k", (data["rho_d"], data["k"]), (rho_d, k))
        charge = cost([rho_d] * len(data["bins"]), k) + (rho_d if data["population"] else 0)
        told = (data["charge"], data["est_before"], data["est_after"])
        same(place, "charge and balance", told, (charge, self.est_spent, self.est_spent + charge))
        for line in [*data["bins"], *([data["population"]] if data["population"] else [])]:
            self.release(place, line, rho_d)
        self.est_spent += charge
        self.within(place)

    def on_query_decided(self, place: str, data: dict[str, Any], body: dict[str, Any]) -> None:
        """A decision: credit, residual and charge of every bin, the limit, and the balance that follows."""
        asked = self.asked.get(body["query"])
        require(asked is not None and asked["analyst"] == data["analyst"], place, "no such question of this analyst")
        amounts, residuals = self.bins(place, asked or {}, data)
        load = cost(amounts, self.settings["k"])
        same(place, "load and quota", (data["load"], data["quota"]), (load, load))
        same(place, "balance", (data["spent_before"], data["spent_after"]), (self.spent, self.spent + load))
        self.limit(place, data)
        kind = kind_of(amounts, residuals, load)
        unpriced = data["regime"] == "unpriced" and data["kind"] == "decline" and load == 0
        require(unpriced or data["kind"] == kind, place, f"kind is {data['kind']!r}, its amounts say {kind!r}")
        self.spent += load
        self.own[data["analyst"]] += load
        self.within(place)

    def bins(self, place: str, asked: dict[str, Any], data: dict[str, Any]) -> tuple[list[int], list[int]]:
        """What each bin got and what it missed before; its release is credited."""
        same(place, "descriptors", [line["descriptor"] for line in data["bins"]], asked["bins"])
        amounts, residuals = [], []
        for number, (line, price) in enumerate(zip(data["bins"], asked["rho_min"], strict=True)):
            here = f"{place} bin {number}"
            require(price is None or line["rho_min"] == price, here, f"rho_min is {line['rho_min']}, asked for was {price}")
            same(here, "rho_hist", line["rho_hist"], self.credit[line["descriptor"]] if line["descriptor"] else 0)
            missing = max(0, (line["rho_min"] or 0) - line["rho_hist"])
            require(0 <= line["rho_new"] <= missing, here, f"{line['rho_new']} paid where {missing} was missing")
            require(line["rho_min"] is None or line["met"] == (line["rho_new"] == missing), here, "met is not what it got")
            same(here, "a release", line["release"] is not None, line["rho_new"] > 0)
            amounts.append(line["rho_new"])
            residuals.append(missing)
        for line in data["bins"]:
            if line["rho_new"]:
                self.release(place, line, line["rho_new"])
                self.credit[line["descriptor"]] += line["rho_new"]
        return amounts, residuals

    def limit(self, place: str, data: dict[str, Any]) -> None:
        """Never more available than contract, allotment and cap leave; exactly that while the contract is open."""
        allotment = self.allotments.get(data["analyst"], 0) if data["analyst"] in self.places else 0
        left = [self.settings["rho_ans"] - self.spent, self.settings["query_cap"]]
        left.append(None if allotment is None else allotment - self.own[data["analyst"]])
        most = max(0, min(amount for amount in left if amount is not None))
        open_now = self.state == "open" and not self.settings["ends_on"] and data["regime"] != "unpriced"
        require(0 <= data["available"] <= most, place, f"{data['available']} available, at most {most} was left")
        require(data["available"] == most or not open_now, place, f"{data['available']} available, {most} was left")
        require(data["load"] <= data["available"], place, "more was charged than was available")

    def release(self, place: str, line: dict[str, Any], rho: int) -> None:
        """A release is published once, and its noise costs no more than was charged."""
        require(line["release"] not in self.releases, place, f"release {line['release']} was published before")
        self.releases.add(line["release"])
        require(type(line["value"]) is int, place, "a released value is a whole number")
        price = 1 / (2 * Fraction(float(line["scale"])) ** 2)
        require(price <= Fraction(rho, UNIT), place, "noise of this scale costs more than was charged")

    def within(self, place: str) -> None:
        """No account spends more than it has."""
        fits = self.spent <= self.settings["rho_ans"] and self.est_spent <= self.settings["rho_est"]
        require(fits, place, "more is spent than there is")


def kind_of(amounts: list[int], residuals: list[int], load: int) -> str:
    """What a decision with these amounts is called."""
    if amounts == residuals:
        return "measure" if load else "reuse"
    return "partial" if load else "decline"


def cost(amounts: Iterable[int], k: int) -> int:
    """A person has at most k records, so is in at most k disjoint bins: the sum of the k largest amounts."""
    return sum(nlargest(k, amounts))


def price_of(accuracy: dict[str, Any], bins: int) -> int | None:
    """Units that a bin needs, rounded up; None for a relative target, whose price depends on a diagnostic."""
    if "relative" in accuracy:
        return None
    if "rho" in accuracy:
        exact = Fraction(accuracy["rho"])
    elif "standard_error" in accuracy:
        exact = 1 / (2 * Fraction(accuracy["standard_error"]) ** 2)
    else:
        parts = bins if accuracy["simultaneous"] else 1
        z = -NormalDist().inv_cdf(float((1 - Fraction(accuracy["confidence"])) / (2 * parts)))
        exact = Fraction(z) ** 2 / (2 * accuracy["within"] ** 2)
    return max(1, -(-exact.numerator * UNIT // exact.denominator))


class Chain:
    """One chain, event by event."""

    def __init__(self, name: str, anchors: list[dict[str, Any]]) -> None:
        self.name, self.seq, self.head, self.contract, self.closed = name, 0, GENESIS, Contract(), False
        self.at: datetime | None = None
        self.anchors: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for anchor in anchors:
            self.anchors[anchor["seq"]].append(anchor)
        self.anchored()  # a head may have been noted before the first event

    def event(self, seq: int, previous: str, head: str, body: bytes) -> bool:
        """Check one event; says whether it was replayed."""
        place = f"chain {self.name}, event {seq}"
        require(not self.closed, place, "an event after the chain's closing line")
        require(seq == self.seq + 1, place, f"it follows event {self.seq}: something is missing, doubled or out of order")
        require(previous == self.head, place, "it does not name the head before it")
        require(head == sha256(previous.encode() + body).hexdigest(), place, "its hash does not follow from its bytes")
        self.seq, self.head = seq, head
        replayed = self.replay(place, body)
        self.anchored()
        return replayed

    def replay(self, place: str, body: bytes) -> bool:
        """What the bytes say, against all that came before."""
        try:
            told = json.loads(body)
            again = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
            require(again == body, place, "its bytes are not in their one form")
            same(place, "seq and chain", (told["seq"], told["chain"]), (self.seq, self.name))
            at = datetime.fromisoformat(told["at"])
            require(self.at is None or at >= self.at - CLOCKS, place, "it is dated before the event before it")
            self.at = at
            return self.name != "site" and self.contract.apply(place, told)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            raise Difference(f"{place}: its operands do not make sense ({type(error).__name__})") from error

    def anchored(self) -> None:
        """Heads noted elsewhere for this place."""
        spent = self.contract.spent + self.contract.est_spent
        for anchor in self.anchors.pop(self.seq, []):
            self.agree(anchor, f"chain {self.name}, event {self.seq}: the anchor of {anchor['at']}", spent)

    def agree(self, told: dict[str, Any], place: str, spent: int) -> None:
        """A noted head against this place of the chain."""
        same(place, "head", told["head"], self.head)
        same(place, "spent", told["spent"], spent)

    def close(self, told: dict[str, Any]) -> None:
        """The closing line: the export is whole."""
        place = f"chain {self.name}: its closing line"
        require(not self.closed, place, "a second one")
        same(place, "seq", told["seq"], self.seq)
        self.agree(told, place, self.contract.spent + self.contract.est_spent)
        self.closed = True


def lines_of(path: str) -> Iterator[tuple[str, bytes]]:
    """The lines of a file with their places."""
    with open(path, "rb") as file:  # noqa: PTH123  # one file, no imports for looks
        for number, text in enumerate(file, start=1):
            yield f"{path} line {number}", text


def anchors_of(paths: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Noted heads by chain; an unfinished last line says nothing."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in paths:
        for place, text in lines_of(path):
            if text.strip() and text.endswith(b"\n"):
                line = noted(text, place)
                found[line["chain"]].append(line)
    return found


def verify(lines: Iterable[tuple[str, bytes]], anchors: dict[str, list[dict[str, Any]]]) -> Counter[str]:
    """Check a record's lines; gives how much was looked at. Difference at the first contradiction."""
    chains: dict[str, Chain] = {}
    counts: Counter[str] = Counter()
    for place, text in lines:
        match = LINE.fullmatch(text)
        name = match[1].decode() if match else noted(text, place)["chain"]
        chain = chains.setdefault(name, Chain(name, anchors.get(name, [])))
        if match is None:
            chain.close(noted(text, place))
        else:
            counts["events"] += 1
            counts["replayed"] += chain.event(int(match[2]), match[3].decode(), match[4].decode(), match[5])
    require(bool(chains), "the record", "it is empty: an export has at least one chain's closing line")
    for chain in chains.values():
        require(chain.closed, f"chain {chain.name}", f"the record ends after event {chain.seq} without its closing line")
    for name, left in anchors.items():
        require(name in chains, f"chain {name}", "anchors speak of it, and it is not in the record")
        chain, last = chains[name], max(line["seq"] for line in left)
        require(not chain.anchors, f"chain {name}", f"it ends at event {chain.seq}, an anchor is for event {last}")
    return counts + Counter(chains=len(chains), anchors=sum(map(len, anchors.values())))


def main(arguments: list[str]) -> int:
    """Run it on files."""
    parser = argparse.ArgumentParser(description="Verify an exported record; exit 1 with the first difference.")
    parser.add_argument("record", help="the exported record (NDJSON)")
    parser.add_argument("--anchor", action="append", default=[], help="heads noted elsewhere (JSON lines); may be repeated")
    options = parser.parse_args(arguments)
    try:
        counts = verify(lines_of(options.record), anchors_of(options.anchor))
    except OSError as error:
        print(f"cannot read {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except Difference as difference:
        print(f"DIFFERENCE {difference}")
        return 1
    told = ", ".join(f"{counts[name]} {name}" for name in ("chains", "events", "replayed", "anchors"))
    print(f"The record is consistent: {told}." + ("" if options.anchor else " No anchor was given: see --help."))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
