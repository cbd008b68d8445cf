"""`python -m bench.trust`: measure every promise, then the soak, and write what was seen into README.md's table.

The tests say what they measured (fixture `figure`); here the lines are put together, one row per promise. A promise that nothing
measured in this run says so. `--figures FILE` writes the table from lines that are there already.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rdp_site.environment import ROOT

README = ROOT / "README.md"
BEGIN, END = "<!-- promises:begin -->", "<!-- promises:end -->"
TESTS_SECONDS = 3600  # the tests end there, finished or not
PROMISES = {
    1: "Spending never exceeds the contract or an allotment, whatever runs at once",
    2: "Decide, charge, draw and release commit together",
    3: "One request, one answer for ever",
    4: "Nothing but released noise depends on private data",
    5: "Every decision follows from the public record",
    6: "Noise is the declared discrete Gaussian",
    7: "Noise is unpredictable and never shared between processes",
    8: "What is charged covers the cost of the noise, exactly",
    9: "No free, negative or endless question",
    10: "Exact counts and noise never leave the worker",
    11: "Analysts who collude get no more than one would",
    12: "Acknowledged charges survive a killed database",
    13: "Restore, re-upload, delete and re-create bring no budget back",
    14: "Tampering is evident",
    15: "The running role cannot rewrite the record",
    16: "Same question, same key; another question, another key",
    17: "No question stops the others; lost and doubled messages are harmless",
    18: "Response times say nothing useful about the records",
    19: "Everyone sees only their own",
    20: "Nobody approves their own; approval binds to the exact request",
    21: "Names and categories run no script; exports are safe in spreadsheets",
    22: "Uploads and questions cannot exhaust the machine",
    23: "Guessing passwords is slowed without locking the victim out",
    24: "Hardened deployment",
}
NOT_MEASURED = "not measured"

Line = Mapping[str, Any]


def main() -> int:
    """Measure (or read), write the table, print it; the exit code of the tests."""
    parser = argparse.ArgumentParser(prog="python -m bench.trust", description=__doc__)
    parser.add_argument("--figures", type=Path, help="lines measured before, instead of running the tests")
    parser.add_argument("--soak", type=Path, help="what a soak found before, instead of running one")
    parser.add_argument("--tests", default="slow or trust", help="which tests: an expression of marks")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures, soak = chosen.figures or Path(folder) / "figures", chosen.soak or Path(folder) / "soak"
        failed = (
            0 if chosen.figures else _run("pytest", "-m", chosen.tests, f"--session-timeout={TESTS_SECONDS}", figures=figures)
        )
        failed += 0 if chosen.soak else _run("bench.soak", "--out", str(soak))
        text = table(read(figures)) + "\n\n" + soaked(json.loads(soak.read_text()) if soak.exists() else {})
    sys.stdout.write(text + "\n")
    if failed:
        sys.stderr.write("README.md is left as it was: something failed.\n")
    else:
        README.write_text(written(README.read_text(encoding="utf-8"), text), encoding="utf-8")
    return failed


def _run(module: str, *words: str, figures: Path | None = None) -> int:
    variables = {"RDP_FIGURES": str(figures)} if figures else {}
    return subprocess.run([sys.executable, "-m", module, *words], cwd=ROOT, env=os.environ | variables, check=False).returncode


def read(path: Path) -> list[Line]:
    """The lines that the tests have written; none where there is no file."""
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(lines: Iterable[Line]) -> str:
    """One row per promise, in order."""
    rows: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        rows[line["row"]].append(line)
    head = "| # | promise | seen | with the protection removed | command |\n|---|---|---|---|---|"
    return "\n".join([head, *(_row(number, promise, rows[number]) for number, promise in PROMISES.items())])


def _row(number: int, promise: str, lines: Sequence[Line]) -> str:
    seen, mutants = _told(lines, "seen") or NOT_MEASURED, _told(lines, "mutant")
    files = " ".join(sorted({line["test"].split("::")[0] for line in lines}))
    command = f"`make test ARGS=\"-m '' {files}\"`" if files else ""
    return f"| {number} | {promise} | {seen} | {mutants} | {command} |"


def _told(lines: Sequence[Line], kind: str) -> str:
    """Each test once: its runs (parameters, repeats) are added up, their first figure stands for them."""
    tests: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line[kind]:
            tests[line["test"].split("[")[0]].append(line)
    return "<br>".join(_summary(runs, kind) for runs in tests.values())


def _summary(runs: Sequence[Line], kind: str) -> str:
    distinct = list(dict.fromkeys(run[kind] for run in runs))
    n = sum(run["n"] for run in runs)
    shown = "; ".join(distinct) if len(distinct) <= 2 else f"{distinct[0]}; and {len(distinct) - 1} more like it"
    return f"{shown} (n = {n:,})".replace("|", "\\|").replace("\n", " ")


def soaked(found: Mapping[str, Any]) -> str:
    """The soak in a sentence."""
    if not found:
        return "Soak: not run."
    return (
        f"Soak, {found['seconds']:,} s: {found['contracts']} contracts, {found['analysts']} analysts over HTTP, "
        f"{found['questions']:,} questions acknowledged, {found['answered']:,} answered; workers killed {found['worker_kills']} "
        f"times, the database {found['database_kills']} times, {found['doubled']:,} messages doubled. Questions lost "
        f"{found['lost']}, failed {found['failed']}, stuck {found['stuck']}, answers changed {found['changed']}; "
        f"next answer after a kill: p50 {found['recovery_p50_s']} s, p95 {found['recovery_p95_s']} s "
        f"(n = {found['recoveries']}); memory {found['memory_start_mb']:,} MB at the start, "
        f"{found['memory_end_mb']:,} MB at the end; `verify`: {found['verify']}. `make soak`"
    )


def written(readme: str, text: str) -> str:
    """README.md with `text` between its two marks. ValueError where they are missing."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
