"""`python -m bench.soak`: twenty minutes of two contracts, eight analysts, and everything that can be killed being killed.

The whole product runs on loopback in a folder of its own. Workers are killed every half minute (a child, or all of one), the
database four times, every bell is rung five times more. Meanwhile each analyst asks, keeps what was acknowledged and what was
answered, and asks the API again now and then. RDP_SOAK_SECONDS sets the length. Exit 1 where anything was lost, changed or stuck.
"""

import argparse
import json
import os
import socket
import sys
from pathlib import Path

from bench import stack

HERE = Path(__file__).parent


def main() -> int:
    """Run it, print what was found, write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("RDP_SOAK_SECONDS", "1200")))
    parser.add_argument("--out", type=Path, help="where to write what was found, as JSON")
    chosen = parser.parse_args()
    with socket.socket() as probe:  # nothing of ours is imported before the environment says where things are
        probe.bind(("127.0.0.1", 0))
        bind = f"127.0.0.1:{probe.getsockname()[1]}"
    with stack.product(log=HERE / "services.log", RDP_BIND=bind) as running:
        from bench import soaking  # models can be imported only now

        found = soaking.soak(running, bind, chosen.seconds)
    text = json.dumps(found, indent=2)
    sys.stdout.write(text + "\n")
    if chosen.out:
        chosen.out.write_text(text + "\n", encoding="utf-8")
    nothing = (found["lost"], found["changed"], found["stuck"], found["failed"]) == (0, 0, 0, 0)
    return 0 if nothing and found["spent"] == found["ledger"] and found["verify"] == "consistent" else 1


if __name__ == "__main__":
    sys.exit(main())
