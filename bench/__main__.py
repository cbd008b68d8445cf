"""`python -m bench`: measure the running product and write `bench/results.json`."""

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from bench import questions, stack

HERE = Path(__file__).parent


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--workload", type=Path, help="JSON lines of another workload (see bench/questions.py)")
    parser.add_argument("--people", type=int, nargs="+", default=[50_000, 5_000_000], help="sizes of the made-up populations")
    parser.add_argument("--idle", type=int, default=100, help="questions asked one by one")
    parser.add_argument("--history", type=int, default=10_000, help="questions in the record when pages are timed (0: not timed)")
    parser.add_argument("--visitors", type=int, default=20, help="people who open pages at once")
    parser.add_argument(
        "--only-pages", action="store_true", help="time pages and nothing else; changes only that part of the file"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    chosen = parser.parse_args()
    lines = questions.read(chosen.workload) if chosen.workload else questions.made()
    results = _measured(lines, chosen)
    if chosen.only_pages and chosen.out.exists():
        results = json.loads(chosen.out.read_text(encoding="utf-8")) | results
    chosen.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(results, indent=2) + "\n")


def _measured(lines: list[questions.Line], chosen: argparse.Namespace) -> dict[str, Any]:
    machine = {"python": platform.python_version(), "processors": os.cpu_count(), "workload": len(lines)}
    with stack.product(log=HERE / "services.log"):
        from bench import asking, pages  # models can be imported only now

        curator, analysts = asking.make_people(sorted({line["analyst"] for line in lines}))
        found: dict[str, Any] = {} if chosen.only_pages else {"machine": machine, "idle": {}, "all_waiting": {}}
        for n in () if chosen.only_pages else chosen.people:
            here = asking.scene(n, curator, analysts)
            found["all_waiting"][str(n)] = asking.all_waiting(here, lines)
            if n == min(chosen.people):
                found["idle"] = asking.one_by_one(asking.scene(n, curator, analysts), lines[: chosen.idle])
        if chosen.history:
            here = asking.scene(min(chosen.people), curator, analysts)
            found["pages"] = pages.measured(here, curator, n=chosen.history, people=chosen.visitors, rounds=5)
    return found


if __name__ == "__main__":
    main()
