"""The laboratory and the comparators stand on the mechanism alone: no site, no rows, no counts come in with them."""

import subprocess
import sys

LISTING = (
    "import sys, curator.laboratory.charts, curator.laboratory.document, curator.laboratory.generate, curator.laboratory.lines, "
    "curator.laboratory.scenario, curator.laboratory.tables; print(*sys.modules)"
)
FORBIDDEN = (
    "django",
    "curator.engine",
    "curator.models",
    "curator.services",
    "curator.selectors",
    "curator.web",
    "ibis",
    "sqlglot",
)


def test_the_laboratory_loads_nothing_but_the_mechanism() -> None:
    run = subprocess.run([sys.executable, "-c", LISTING], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "curator.mechanism.comparators.replay" in loaded
    assert not [name for name in loaded if name.startswith(FORBIDDEN)]
