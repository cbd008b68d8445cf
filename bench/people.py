"""Made-up people for benchmarks: `write(n, path)` makes a seeded CSV; the numbers describe nobody.

NumPy's generator is right here and nowhere near a release: this is test material, not noise.
"""

import sys
from pathlib import Path

import numpy as np
import polars as pl

SCHEMA = {
    "columns": [
        {"name": "age", "kind": "integer", "low": 0, "high": 99, "missing": False, "out_of_domain": "clamp"},
        {"name": "sex", "kind": "category", "values": ["F", "M"], "missing": False, "out_of_domain": "other"},
        {
            "name": "region",
            "kind": "category",
            "values": [f"R{i}" for i in range(10)],
            "missing": False,
            "out_of_domain": "other",
        },
        {
            "name": "education",
            "kind": "category",
            "values": [f"E{i:02d}" for i in range(16)],
            "missing": False,
            "out_of_domain": "other",
        },
        {"name": "income", "kind": "integer", "low": 0, "high": 200000, "missing": False, "out_of_domain": "clamp"},
        {"name": "hours", "kind": "integer", "low": 0, "high": 99, "missing": False, "out_of_domain": "clamp"},
    ]
}


def people(n: int, *, seed: int = 20261129) -> pl.DataFrame:
    """A table of `n` made-up people with the columns of `SCHEMA`."""
    rng = np.random.default_rng(seed)
    shares = np.array([18, 16, 14, 12, 11, 9, 8, 6, 4, 2]) / 100
    ladder = np.arange(16, 0, -1) / np.arange(16, 0, -1).sum()
    return pl.DataFrame(
        {
            "age": np.clip(rng.gamma(6, 7, n), 0, 99).astype("int32"),
            "sex": np.where(rng.random(n) < 0.49, "M", "F"),
            "region": np.char.add("R", rng.choice(10, n, p=shares).astype(str)),
            "education": np.char.add("E", np.char.zfill(rng.choice(16, n, p=ladder).astype(str), 2)),
            "income": np.clip(rng.lognormal(10.6, 0.7, n), 0, 200_000).astype("int32"),
            "hours": np.clip(rng.normal(38, 12, n), 0, 99).astype("int32"),
        }
    )


def write(n: int, path: Path) -> Path:
    """Write `people(n)` to `path` as Parquet or CSV, by its suffix."""
    frame = people(n)
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_csv)(path)
    return path


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
