"""How long pages take with a long record: 20 people at once over HTTP against the product's own web server.

The history is asked through the services and decided by the running worker, in batches, like any other. Times are printed, never
judged: they are those of this machine, with the people's own threads on it.
"""

import http.client
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from accounts.models import User
from bench import asking, questions
from curator.models import Contract, Query
from curator.services import queries

BATCH = 500
BACKEND = "django.contrib.auth.backends.ModelBackend"
QUOTE = {"view": "sql", "sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "amount": "25", "confidence": "95"}


def history(here: asking.Scene, n: int) -> None:
    """Ask `n` questions in batches and wait until the worker has decided them."""
    lines = questions.made(n)
    for first in range(0, n, BATCH):
        batch = lines[first : first + BATCH]
        for name, analyst in here.analysts.items():
            body = [questions.request(line) for line in batch if line["analyst"] == name]
            if body:
                queries.submit(analyst=analyst, contract=here.contract, body=body, key=f"history {first}")
        asking.wait(here.contract)


def pages(contract: Contract, analyst: User) -> dict[str, str]:
    """The pages that one analyst goes round, by name; the quote is a POST."""
    inside, api = f"/contracts/{contract.uid}", f"/api/v1/contracts/{contract.uid}"
    newest = Query.objects.filter(contract=contract, analyst=analyst).order_by("-id")[0]
    return {
        "home": "/", "workspace": f"{inside}/", "ask": f"{inside}/ask/", "quote": f"{inside}/quote/",
        "released": f"{inside}/released/", "released by column": f"{inside}/released/?column=hours&within=50",
        "saved": f"{inside}/saved/", "compare": f"{inside}/compare/", "budget": f"{inside}/budget/",
        "answer": f"/queries/{newest.uid}/", "API queries": f"{api}/queries/", "API releases": f"{api}/releases/",
    }  # fmt: skip


def curators_pages(contract: Contract) -> dict[str, str]:
    """The pages of somebody who curates and audits."""
    inside = f"/contracts/{contract.uid}"
    return {
        "control": f"{inside}/control/", "people": f"{inside}/people/", "compare all": f"{inside}/compare/?whose=all",
        "record": f"/audit/?chain={contract.uid}",
    }  # fmt: skip


def session_of(user: User) -> str:
    """The cookie of somebody who has signed in."""
    session = SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session.session_key or ""


class Visitor:
    """One person's browser: a connection, a session, and the seconds each page took."""

    def __init__(self, user: User, places: dict[str, str]) -> None:
        self.cookie = f"sessionid={session_of(user)}; csrftoken={'c' * 32}"
        self.places = places
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def go_round(self, rounds: int) -> None:
        """Open every page `rounds` times, one after another."""
        for _ in range(rounds):
            for name, place in self.places.items():
                began = time.perf_counter()
                self.open(name, place)
                self.seconds[name].append(time.perf_counter() - began)

    def open(self, name: str, place: str) -> None:
        """Open one page; ValueError unless it is there."""
        address = urlsplit(f"http://{settings.BIND}")
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)
        headers = {"Cookie": self.cookie, "X-CSRFToken": "c" * 32, "Content-Type": "application/x-www-form-urlencoded"}
        posted = name == "quote"
        connection.request("POST" if posted else "GET", place, urlencode(QUOTE) if posted else None, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status != 200:
            raise ValueError(f"{name}: {answer.status}")


def together(visitors: Sequence[Visitor], rounds: int) -> dict[str, Any]:
    """All at once; p50 and p95 in milliseconds of each page, and how often it was opened."""
    threads = [threading.Thread(target=visitor.go_round, args=(rounds,)) for visitor in visitors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found: dict[str, list[float]] = defaultdict(list)
    for visitor in visitors:
        for name, seconds in visitor.seconds.items():
            found[name] += seconds
    return {name: _figures(sorted(seconds)) for name, seconds in found.items()}


def _figures(ordered: list[float]) -> dict[str, Any]:
    at = {share: round(1000 * ordered[int(len(ordered) * share / 100)]) for share in (50, 95)}
    return {"n": len(ordered), "p50_ms": at[50], "p95_ms": at[95]}


def measured(here: asking.Scene, curator: User, *, n: int, people: int, rounds: int) -> dict[str, Any]:
    """Make the history, then let `people` go round: one in five curates, the others ask."""
    history(here, n)
    theirs, analysts = curators_pages(here.contract), list(here.analysts.values())
    asking_people = [Visitor(analyst, pages(here.contract, analyst)) for analyst in analysts]
    first = together([asking_people[0], Visitor(curator, theirs)], 1)
    visitors = [
        Visitor(curator, theirs) if number % 5 == 4 else Visitor(analyst, pages(here.contract, analyst))
        for number, analyst in zip(range(people), cycle(analysts), strict=False)
    ]
    return {
        "questions": n, "people": people, "first_look_ms": {name: figures["p50_ms"] for name, figures in first.items()},
        "pages": together(visitors, rounds),
    }  # fmt: skip
