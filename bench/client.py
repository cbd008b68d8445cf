"""One analyst of the soak: asks by HTTP, again and again under one key until it is acknowledged, and remembers every answer."""

import json
import random
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FINAL_SECONDS = 120.0  # how long one question is waited for


@dataclass
class Asked:
    """One acknowledged question: when, where, and the answers as they were first seen (None: never)."""

    contract: str
    acknowledged: float
    answers: Any = None
    finished: float | None = None


@dataclass
class Client:
    """One analyst with a key for programs."""

    base: str
    secret: str
    contracts: list[str]
    bodies: Sequence[Mapping[str, Any]]
    chance: random.Random
    stop: threading.Event
    asked: dict[str, Asked] = field(default_factory=dict)
    changed: int = 0
    repeated: int = 0

    def run(self) -> None:
        """Ask until told to stop."""
        while not self.stop.is_set():
            self._one()
            time.sleep(self.chance.uniform(0.05, 0.4))

    def _one(self) -> None:
        contract, body, key = self.chance.choice(self.contracts), self.chance.choice(self.bodies), uuid.uuid4().hex
        number = self._ask(contract, body, key)
        if self.chance.random() < 0.1:
            self.repeated += 1
            self.changed += self._ask(contract, body, key) != number
        self._wait(number)

    def _ask(self, contract: str, body: Mapping[str, Any], key: str) -> str:
        number = str(self._call(f"contracts/{contract}/queries/", body, key)["id"])
        self.asked.setdefault(number, Asked(contract, time.monotonic()))
        return number

    def _wait(self, number: str) -> None:
        mine, deadline = self.asked[number], time.monotonic() + FINAL_SECONDS
        while time.monotonic() < deadline:
            seen = self._call(f"queries/{number}/")
            if seen["state"] != "waiting":
                mine.answers, mine.finished = seen["answers"], time.monotonic()
                return
            time.sleep(0.1)

    def look_again(self) -> None:
        """Compare what the API says now with what it said first, for a hundred of the questions."""
        for number in self.chance.sample(sorted(self.asked), min(100, len(self.asked))):
            mine = self.asked[number]
            if mine.answers is not None:
                self.changed += self._call(f"queries/{number}/")["answers"] != mine.answers

    def _call(self, path: str, body: Mapping[str, Any] | None = None, key: str = "") -> dict[str, Any]:
        """One call, repeated while the site is away: the key makes that harmless."""
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json", "Idempotency-Key": key}
        data = json.dumps(body).encode() if body is not None else None
        while True:
            try:
                request = urllib.request.Request(f"{self.base}/api/v1/{path}", data, headers)
                with urllib.request.urlopen(request, timeout=30) as response:
                    found: dict[str, Any] = json.load(response)
                    return found
            except urllib.error.HTTPError as error:
                if error.code < 500 and error.code != 429:
                    raise
            except OSError:
                pass
            time.sleep(0.2)
