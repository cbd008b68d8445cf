"""A program for the tests of killed databases: asks and settles without pause, prints each charge once it is acknowledged.

The key of a question that a kill interrupted is asked again, as any client does. Ends when its input does.
"""

import os
import sys
import threading
from itertools import count
from time import sleep
from typing import TYPE_CHECKING

import django
from django.db import DatabaseError, InterfaceError, connection

if TYPE_CHECKING:  # models can be imported only after set-up
    from accounts.models import User
    from curator.models import Contract


def main() -> None:
    """Charge until the input ends."""
    from curator import queue
    from tests.cast import ROWS, cast, make_contract
    from tests.worker.scene import body, places

    setattr(queue, "_send", lambda task, row_id: None)  # noqa: B010  # nobody listens: this is the worker too
    people = cast()
    contract = make_contract(people, rows=ROWS, rho_total="100")
    where = list(places())
    over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(over,), daemon=True).start()
    for number in count():
        if over.is_set():
            return
        asked = body(where[number % len(where)], rho=f"0.{1 + number // len(where):06d}")
        while not _charged(contract, people.alice, f"charge-{number}", asked):
            sleep(0.05)
        print(f"charge-{number}", flush=True)


def _wait_for_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _charged(contract: "Contract", alice: "User", key: str, asked: object) -> bool:
    """Ask (again) and settle; True once the answer was seen."""
    from curator.models import Query
    from curator.services import execution, queries

    try:
        query = queries.submit(analyst=alice, contract=contract, body=asked, key=key)[0]
        execution.run(contract.pk)
        return Query.objects.get(pk=query.pk).state == "answered"
    except (DatabaseError, InterfaceError):
        connection.close()
        return False


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "rdp_site.settings"
    django.setup()
    main()
