"""Files that would fill a memory are refused: quickly, with little of it. Each is read in a fork of its own and measured."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rdp_site.environment import ROOT
from tests.fixtures.figures import Figure

MOST = 1_000  # megabytes above what the process had before: far less than the file unpacked, far more than ever seen

READ = """
import json, os, resource, sys, time
from pathlib import Path
import django
django.setup()
from curator.engine import parquet_files
from curator.engine.describing import describe
from curator.mechanism.errors import Refused
parquet_files.MAX_CELLS = 10_000_000
for name in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    before, begun, code = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic(), "read"
    try:
        describe(Path(name))
    except Refused as refusal:
        code = refusal.code
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(json.dumps({"code": code, "peak": peak, "seconds": round(time.monotonic() - begun, 2)}), flush=True)
    os._exit(0)
"""


def many_columns(path: Path) -> None:
    path.write_text(",".join(f"c{place}" for place in range(100_000)) + "\n")


def long_cell(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"id,note\n1,y\n2,")
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(b"\n")


def packed(path: Path) -> None:
    path.write_bytes(gzip.compress(b"id,age\n" + bytes(64 << 20)))


def zipped(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04" + bytes(1 << 20))


def long_text_in_parquet(path: Path) -> None:
    pq.write_table(pa.table({"t": ["x" * (100 << 20)]}), path, compression="zstd")


def one_text_many_times(path: Path) -> None:
    """700 GB, were it spread over its rows; 900 bytes on disk."""
    texts = pa.array(["x" * (7 << 20)]).dictionary_encode().take(pa.array([0] * 100_000))
    pq.write_table(pa.table({"t": texts}), path, compression="zstd", store_schema=False)  # as other programs write it: as texts


def endless_constant(path: Path) -> None:
    """A hundredth of the most cells, which are lowered to that for it: to write them takes longer than to refuse them."""
    constant = pa.nulls(10_000_001, pa.int8()).fill_null(1)
    pq.write_table(pa.table({"a": constant}), path, compression="zstd")


CASES: list[tuple[Callable[[Path], None], str]] = [
    (many_columns, "too_many_columns"), (long_cell, "record_too_large"), (packed, "compressed"), (zipped, "not_a_table"),
    (long_text_in_parquet, "record_too_large"), (one_text_many_times, "read"), (endless_constant, "file_too_large"),
]  # fmt: skip


@pytest.mark.trust
def test_promise_22_files_that_would_fill_the_memory_are_refused_with_little_of_it(tmp_path: Path, figure: Figure) -> None:
    seen = []
    for make, _ in CASES:
        make(tmp_path / make.__name__)
    for (make, code), found in zip(CASES, read(*(tmp_path / make.__name__ for make, _ in CASES)), strict=True):
        assert found["code"] == code, make.__name__
        assert int(str(found["peak"])) < MOST, make.__name__
        seen.append(f"{make.__name__.replace('_', ' ')} {found['seconds']} s, {found['peak']} MB")
    figure(row=22, n=len(CASES), seen="; ".join(seen))


def read(*paths: Path) -> list[dict[str, object]]:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "rdp_site.settings", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", READ, *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
