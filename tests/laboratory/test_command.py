"""`manage.py laboratory` and `manage.py generate_workload`: what they print, and what they refuse."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

TWO = """{"analyst": "alice", "query": "q", "rho_min": "0.7"}
{"analyst": "bob", "query": "q", "rho_min": "1.0"}
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """The paper's two-query illustration as a file."""
    file = tmp_path / "two.jsonl"
    file.write_text(TWO)
    return file


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_json_says_who_spent_what_in_exact_rho(two: Path) -> None:
    said = json.loads(run("laboratory", str(two), "--rho-total", "10", "--json"))
    assert said.keys() == {"allocators", "saved_against_partition", "ratio_to_optimum", "rho_est", "break_even_share"}
    assert (said["saved_against_partition"], said["ratio_to_optimum"], said["rho_est"]) == ("0.7", 1, "0.5")
    assert said["break_even_share"] == pytest.approx(0.5 / 1.7)
    assert {name: account["spent"] for name, account in said["allocators"].items()} == {
        "residual": "1",
        "reuse_only": "1",
        "state_agnostic": "1.7",
        "accuracy_aware": "1.7",
        "budget_partition": "1.7",
        "offline_optimum": "1",
    }
    assert said["allocators"]["residual"] == {
        "spent": "1",
        "met": 2,
        "partial": 0,
        "declined": 0,
        "by_analyst": {
            "alice": {"spent": "0.7", "met": 1, "partial": 0, "declined": 0},
            "bob": {"spent": "0.3", "met": 1, "partial": 0, "declined": 0},
        },
    }


def test_an_unknown_optimum_is_null_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "histogram.jsonl"
    file.write_text('{"analyst": "a", "query": "h", "rho_min": 1, "cells": [{"query": "x"}, {"query": "y"}]}\n')
    said = json.loads(run("laboratory", str(file), "--rho-total", "10", "--json"))
    assert said["allocators"]["offline_optimum"]["met"] is None
    assert "histograms" in said["allocators"]["offline_optimum"]["reason"]
    assert said["ratio_to_optimum"] is None
    assert said["allocators"]["residual"]["spent"] == "1"
    two_records = json.loads(run("laboratory", str(file), "--rho-total", "10", "--k", "2", "--json"))
    assert two_records["allocators"]["residual"]["spent"] == "2"


def test_tables_show_the_same_and_the_saving_in_words(two: Path) -> None:
    said = run("laboratory", str(two), "--rho-total", "10", "--xi", "0")
    assert "residual 1.000000 partition 1.700000 saved 41.2%" in said
    assert any(line.split()[:2] == ["bob", "0.300000"] for line in said.splitlines())


def test_scarcity_follows_kappa(two: Path) -> None:
    """0.95 of 1: bob's residual 0.3 does not fit into 0.25, and a price of 0.5 * 0.95 / 2 leaves him little of it."""
    generous = json.loads(run("laboratory", str(two), "--rho-total", "1", "--kappa", "0", "--json"))
    strict = json.loads(run("laboratory", str(two), "--rho-total", "1", "--kappa", "0.5", "--json"))
    assert generous["allocators"]["residual"]["spent"] == "0.95"
    assert strict["allocators"]["residual"]["spent"] == "0.7625"
    assert strict["allocators"]["residual"]["by_analyst"]["bob"]["partial"] == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--rho-total", "NaN"],
        ["--rho-total", "-1"],
        ["--rho-total", "1e309"],
        ["--rho-total", "1", "--xi", "1"],
        ["--rho-total", "1", "--xi", "-0.1"],
        ["--rho-total", "1", "--kappa", "-1"],
        ["--rho-total", "1", "--kappa", "Infinity"],
        ["--rho-total", "1", "--k", "0"],
        ["--rho-total", "1", "--k", "1.5"],
        [],
    ],
)
def test_settings_out_of_range_are_refused(two: Path, options: list[str]) -> None:
    with pytest.raises(CommandError):
        run("laboratory", str(two), *options)


def test_a_line_that_does_not_parse_is_named(two: Path) -> None:
    two.write_text(TWO + '{"analyst": "bob", "query": "q", "rho_min": "1", "weight": -1}\n')
    with pytest.raises(CommandError, match="line 3: weight"):
        run("laboratory", str(two), "--rho-total", "1")


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    for file in (tmp_path, tmp_path / "absent", binary):
        with pytest.raises(CommandError, match=file.name):
            run("laboratory", str(file), "--rho-total", "1")


def test_a_generated_workload_replays(tmp_path: Path) -> None:
    file = tmp_path / "made-up.jsonl"
    file.write_text(run("generate_workload", "--questions", "40", "--difficult", "--allotment", "0.001", "--seed", "5"))
    said = json.loads(run("laboratory", str(file), "--rho-total", "0.004", "--json"))
    for name, account in said["allocators"].items():
        assert account["met"] + account["partial"] + account["declined"] == 40, name
    with pytest.raises(CommandError, match="overlap"):
        run("generate_workload", "--overlap", "2")
