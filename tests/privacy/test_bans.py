"""Where noise is made and spent, no other source of randomness can be imported without the linter saying so."""

import subprocess
import sys
from pathlib import Path

import pytest

from rdp_site.environment import ROOT
from tests.fixtures.figures import Figure

NOISE_PATH = (
    "curator/mechanism/noise.py",
    "curator/services/drawing.py",
    "curator/services/diagnostics.py",
    "curator/engine/counts.py",
)
SOURCES = (
    "import random\nprint(random.gauss(0, 1))\n",
    "from random import gauss\nprint(gauss(0, 1))\n",
    "import numpy.random\nprint(numpy.random.normal())\n",
    "from numpy.random import default_rng\nprint(default_rng(1))\n",
    "from numpy import random\nprint(random.normal())\n",
    "import numpy as np\nprint(np.random.normal())\n",
)


def findings(source: str, place: str) -> str:
    """What the project's own linter says of a source at a place of the project."""
    ruff = Path(sys.executable).parent / "ruff"
    words = [str(ruff), "check", "--quiet", "--output-format", "concise", "--stdin-filename", str(ROOT / place), "-"]
    done = subprocess.run(words, cwd=ROOT, input=source, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.trust
def test_other_sources_of_randomness_are_banned_in_the_noise_path(figure: Figure) -> None:
    caught = [(place, source) for place in NOISE_PATH for source in SOURCES if "TID251" in findings(source, place)]
    assert len(caught) == len(NOISE_PATH) * len(SOURCES)
    figure(row=7, n=len(caught), mutant="`random` or `numpy.random` imported in the noise path: lint says so, caught")


@pytest.mark.parametrize("place", NOISE_PATH)
def test_the_linter_has_nothing_against_what_is_there(place: str) -> None:
    source = (ROOT / place).read_text(encoding="utf-8")
    assert findings(source, place) == ""
    assert "noqa: TID251" not in source
