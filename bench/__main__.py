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
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    chosen = parser.parse_args()
    lines = questions.read(chosen.workload) if chosen.workload else questions.made()
    results = _measured(lines, chosen)
    chosen.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(results, indent=2) + "\n")


def _measured(lines: list[questions.Line], chosen: argparse.Namespace) -> dict[str, Any]:
    machine = {"python": platform.python_version(), "processors": os.cpu_count(), "workload": len(lines)}
    with stack.product(log=HERE / "services.log"):
        from bench import asking  # models can be imported only now

        curator, analysts = asking.make_people(sorted({line["analyst"] for line in lines}))
        waiting = {}
        for n in chosen.people:
            here = asking.scene(n, curator, analysts)
            waiting[str(n)] = asking.all_waiting(here, lines)
            if n == min(chosen.people):
                idle = asking.one_by_one(asking.scene(n, curator, analysts), lines[: chosen.idle])
    return {"machine": machine, "idle": idle, "all_waiting": waiting}


if __name__ == "__main__":
    main()
