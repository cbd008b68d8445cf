"""The soak itself: clients, killers, and the comparison at the end."""

import os
import random
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psutil
from django.db import connection
from django.db.models import Sum

from accounts import tokens
from accounts.models import User
from bench import asking, questions
from bench.client import Client
from curator import queue
from curator.mechanism import rho
from curator.models import Contract, LedgerEntry, Query
from curator.services.verification import verify
from rdp_site import postgres
from rdp_site.environment import VAR
from rdp_site.supervisor import Supervisor, wait_listening

NAMES = tuple(f"analyst{n}" for n in range(8))
PEOPLE = 20_000
WORKER_EVERY, DOUBLE_EVERY, DATABASE_TIMES = 30.0, 5.0, 4
QUIET = 180.0  # seconds to answer what still waits at the end


def soak(running: Supervisor, bind: str, seconds: float) -> dict[str, Any]:
    """Run for so long and say what was found."""
    wait_listening(bind)
    curator, analysts = asking.make_people(NAMES)
    contracts = [asking.scene(PEOPLE + number, curator, analysts).contract for number in range(2)]  # of other people each
    stop, chance = threading.Event(), random.Random(1)
    clients = [_client(bind, user, contracts, stop, number) for number, user in enumerate(analysts.values())]
    threads = [threading.Thread(target=client.run) for client in clients]
    for thread in threads:
        thread.start()
    killing = _Killing(running, contracts, chance, seconds)
    memory = killing.run()
    stop.set()
    for thread in threads:
        thread.join()
    _settle(contracts)
    for client in clients:
        client.look_again()
    return _found(clients, contracts, killing, [*memory, _memory(running)], seconds)


def _client(bind: str, user: User, contracts: Sequence[Contract], stop: threading.Event, number: int) -> Client:
    _, secret = tokens.issue(user=user, name="soak", scope="ask", days=1)
    bodies = [questions.request(line) for line in questions.made(2_000, seed=number)]
    uids = [str(contract.uid) for contract in contracts]
    return Client(f"http://{bind}", secret, uids, bodies, random.Random(number), stop)


class _Killing:
    """Kills and doubles on time, and remembers when."""

    def __init__(self, running: Supervisor, contracts: Sequence[Contract], chance: random.Random, seconds: float) -> None:
        self.running, self.contracts, self.chance, self.seconds = running, contracts, chance, seconds
        self.moments: list[float] = []
        self.workers = self.databases = self.doubled = 0

    def run(self) -> list[float]:
        """Until the time is over; the memory after a warm-up, in MB."""
        began = time.monotonic()
        plan = [(WORKER_EVERY * n, self._worker) for n in range(1, int(self.seconds / WORKER_EVERY) + 1)]
        plan += [(self.seconds * (n + 0.5) / DATABASE_TIMES, self._database) for n in range(DATABASE_TIMES)]
        plan += [(DOUBLE_EVERY * n, self._double) for n in range(1, int(self.seconds / DOUBLE_EVERY) + 1)]
        memory: list[float] = []
        plan += [(min(20.0, self.seconds / 4), lambda: memory.append(_memory(self.running)))]
        for moment, act in sorted(plan, key=lambda each: each[0]):
            time.sleep(max(0.0, began + moment - time.monotonic()))
            with suppress(psutil.NoSuchProcess, ProcessLookupError):  # it is being started again already
                act()
        time.sleep(max(0.0, began + self.seconds - time.monotonic()))
        return memory

    def _worker(self) -> None:
        """A child of the pool, or the whole worker with its children."""
        pid = self.running.pids()["worker"]
        children = psutil.Process(pid).children()
        if children and self.chance.random() < 0.5:
            self.chance.choice(children).kill()
        else:
            os.killpg(pid, signal.SIGKILL)
        self.workers += 1
        self.moments.append(time.monotonic())

    def _database(self) -> None:
        note = postgres.existing(VAR).data / "postmaster.pid"
        psutil.Process(int(note.read_text().split()[0])).kill()
        self.databases += 1
        self.moments.append(time.monotonic())

    def _double(self) -> None:
        for contract in self.contracts:
            for _ in range(5):
                queue._send(queue.RUN_CONTROLLER, contract.pk)
                self.doubled += 1


def _settle(contracts: Sequence[Contract]) -> None:
    """Wait until nothing waits, at most so long; what is left is stuck."""
    deadline = time.monotonic() + QUIET
    while _stuck(contracts) and time.monotonic() < deadline:
        time.sleep(0.5)


def _stuck(contracts: Sequence[Contract]) -> int:
    connection.close_if_unusable_or_obsolete()
    return Query.objects.filter(contract__in=contracts, state=Query.State.WAITING).count()


def _found(
    clients: Sequence[Client], contracts: Sequence[Contract], killing: _Killing, memory: list[float], seconds: float
) -> dict[str, Any]:
    asked = {number: mine for client in clients for number, mine in client.asked.items()}
    rows = dict(Query.objects.filter(uid__in=list(asked)).values_list("uid", "state"))
    recoveries = sorted(_recoveries(clients, contracts, killing.moments))
    report = verify()
    return {
        "seconds": round(seconds), "contracts": len(contracts), "analysts": len(clients), "questions": len(asked),
        "answered": sum(state in {"answered", "partial", "declined"} for state in rows.values()),
        "failed": sum(state == "failed" for state in rows.values()), "repeated": sum(client.repeated for client in clients),
        "worker_kills": killing.workers, "database_kills": killing.databases, "doubled": killing.doubled,
        "lost": len(asked) - len(rows), "stuck": _stuck(contracts), "changed": sum(client.changed for client in clients),
        "spent": [rho.text(Contract.objects.get(pk=each.pk).spent_bound) for each in contracts],
        "ledger": [rho.text(_ledger(each)) for each in contracts],
        "recoveries": len(recoveries), "recovery_p50_s": _quantile(recoveries, 0.5),
        "recovery_p95_s": _quantile(recoveries, 0.95),
        "memory_start_mb": round(memory[0]), "memory_end_mb": round(memory[-1]),
        "verify": "consistent" if report.ok else report.first_difference,
    }  # fmt: skip


def _ledger(contract: Contract) -> int:
    return int(LedgerEntry.objects.filter(contract=contract, account="ans").aggregate(total=Sum("load"))["total"] or 0)


def _recoveries(clients: Sequence[Client], contracts: Sequence[Contract], moments: Sequence[float]) -> list[float]:
    """After each kill and for each contract: seconds until the first answer to a question that was taken in after it."""
    asked = [mine for client in clients for mine in client.asked.values()]
    found = []
    for moment in moments:
        for contract in contracts:
            finished = [
                mine.finished
                for mine in asked
                if mine.contract == str(contract.uid) and mine.acknowledged > moment and mine.finished is not None
            ]
            if finished:
                found.append(min(finished) - moment)
    return found


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2) if ordered else None


def _memory(running: Supervisor) -> float:
    """MB that the services and the database have for themselves."""
    total = 0
    for pid in [*running.pids().values(), int((postgres.existing(VAR).data / "postmaster.pid").read_text().split()[0])]:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            for each in [process, *process.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    total += each.memory_full_info().uss
    return total / 2**20
