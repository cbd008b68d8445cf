"""Faults that people met in systems of this kind, in our words, each with the test that would notice it; some are here."""

import ast
import os
import subprocess
import sys
from functools import cache

import pytest

from curator import queue
from curator.models import Contract, LedgerEntry
from rdp_site.environment import ROOT
from tests.cast import ROWS, Cast, make_contract, units
from tests.services.serving import decision, run
from tests.worker.scene import answer, ask

pytestmark = pytest.mark.django_db

LEDGER = {
    "eleven questions of an eleventh each: all pass, or the quote says what the last one lacks": (
        "tests/services/test_execution.py::test_eleven_elevenths_pass_when_they_fit",
        "tests/services/test_execution.py::test_the_eleventh_of_eleven_rounded_up_lacks_exactly_the_rounding",
        "tests/selectors/test_quotes.py::test_the_last_of_eleven_elevenths_is_told_what_it_lacks",
    ),
    "all that remains, by the figure on the page, is accepted": (
        "tests/services/test_execution.py::test_all_that_remains_as_the_page_shows_it_can_be_spent",
        "tests/selectors/test_quotes.py::test_all_that_remains_as_shown_can_be_spent",
    ),
    "nothing remains and less than a unit is asked for: refused, no free draw": (
        "tests/services/test_execution.py::test_dust_is_refused_once_nothing_remains",
    ),
    "numbers that are none, negative or endless, in form, JSON and database": (
        "tests/web/test_asking.py::test_bad_input_is_told_beside_its_field_and_costs_nothing",
        "tests/api/test_queries.py::test_bad_input_names_the_field_and_charges_nothing",
        "tests/record/test_guards.py::test_limits_stand_in_the_database_too",
    ),
    "an allotment of nothing lets reuse through; none at all is another state": (
        "tests/services/test_execution.py::test_an_allotment_of_nothing_lets_reuse_through",
        "tests/services/test_execution.py::test_no_limit_of_ones_own_is_another_state_than_nothing",
    ),
    "tighter and surer costs more, at the values of the table": (
        "tests/selectors/test_quotes.py::test_monotone_in_the_bound_and_in_the_confidence",
        "tests/mechanism/test_accuracy.py::test_check_values",
    ),
    "four bounds in all 24 orders cost the same": (
        "tests/services/test_execution.py::test_thresholds_in_all_24_orders_cost_what_the_tightest_costs",
    ),
    "blank cells in a counted column: the declared rule decides, the charge is finite and unchanged": (
        "tests/services/test_field_cases.py::test_blank_cells_change_no_charge",
        "tests/engine/test_freezing.py",
    ),
    "too little is left: partial or declined, with figures; the worker lives": (
        "tests/services/test_execution.py::test_too_little_left_gives_what_there_is_with_its_figures",
    ),
    "an answer opened twice is the same stored value": (
        "tests/services/test_execution.py::test_an_answer_is_kept_and_costs_nothing_to_look_at_or_to_run_again",
    ),
    "nothing is charged only where history is enough": (
        "tests/services/test_execution_over_time.py::test_a_charge_of_nothing_means_that_history_was_enough",
    ),
    "nobody can match: known from the schema, free, no data touched": (
        "tests/services/test_execution.py::test_nobody_can_be_there_is_known_from_the_schema_alone",
    ),
    "a histogram and the overall count in one go are both priced": (
        "tests/services/test_execution.py::test_a_histogram_and_the_overall_count_are_both_priced",
    ),
    "ten disjoint bins are charged once; overlapping bins are refused": (
        "tests/services/test_execution.py::test_ten_disjoint_bins_are_charged_once",
        "tests/language/test_bins.py::test_edges_that_are_no_bins_are_refused",
    ),
    "a cap on one question names the smallest bound it allows": (
        "tests/selectors/test_quotes.py::test_the_smallest_bound_that_a_cap_allows_is_told_and_true",
    ),
    "somebody removed and invited again, deleted and made again: spent as before": (
        "tests/worker/test_restored.py::test_four_more_ways_give_no_budget_back",
    ),
    "the same file again, rows shuffled and columns in another order, is pointed out": (
        "tests/services/test_ingestion.py::test_the_same_records_again_are_pointed_out",
    ),
}
QUEUE_AND_RANDOMNESS = {
    "two need the rest, two workers: one is charged, the other is partial or declined": (
        "tests/worker/test_races.py::test_two_need_the_rest_and_two_workers_give_it_to_one",
    ),
    "one message twice, and again while it runs: one release, one entry": (
        "tests/worker/test_races.py::test_five_doubled_messages_make_one_release",
        "tests/worker/test_races.py::test_a_redelivery_while_the_first_runs_changes_nothing",
    ),
    "a worker quicker than the request: the bell rings after the commit": (
        "tests/services/test_queries.py::test_the_bell_rings_once_the_question_can_be_seen_and_not_for_one_taken_back",
    ),
    "a worker that dies between draw and commit: nothing charged, nothing seen, finished later": (
        "tests/worker/test_kills.py::test_a_kill_between_draw_and_commit_shows_nothing_and_costs_nothing",
    ),
    "a contract locked elsewhere: its questions wait and are served": (
        "tests/worker/test_races.py::test_a_contract_locked_elsewhere_keeps_its_questions_waiting_and_serves_them_later",
    ),
    "children of a warmed-up process draw different noise": (
        "tests/mechanism/test_noise.py::test_eight_forked_workers_draw_eight_different_vectors",
    ),
    "seeds and hash seeds fixed, two runs: values differ": (
        "tests/services/test_field_cases.py::test_no_seed_from_outside_makes_noise_repeat",
    ),
    "names with colons, line ends and pictures: messages carry ids, logs no control characters": (
        "tests/worker/test_celery.py::test_tasks_carry_one_id_and_keep_no_result",
        "tests/site/test_logs.py::test_no_text_begins_a_line_of_its_own",
    ),
    "somebody else's question by its id: as if it were not there": (
        "tests/web/test_access.py::test_foreign_and_missing_are_one_answer",
        "tests/api/test_queries.py::test_people_without_a_place_get_the_same_404_as_for_nothing_at_all",
    ),
}
CREDIT = {
    "missing included and excluded are two descriptors; at least and more than, Rome and rome never credit each other": (
        "tests/services/test_field_cases.py::test_what_differs_in_one_cell_never_credits",
    ),
    "a bin and the same span as a count credit each other both ways": (
        "tests/services/test_execution.py::test_bins_and_counts_credit_each_other",
    ),
    "other order, doubled lists, 5 and 5.0, double negation: full credit": (
        "tests/language/test_meaning_oracle.py::test_same_cells_same_key_and_other_cells_other_key_over_random_pairs",
        "tests/services/test_execution.py::test_bobs_repeat_in_other_words_is_free",
    ),
    "another version of the data is not credited, and spending adds up": (
        "tests/services/test_execution_over_time.py::test_a_new_version_is_not_credited_and_spending_adds_up",
    ),
    "100 at 0.7 and 110 at 0.3 fuse to 103": ("tests/services/test_execution.py::test_releases_100_and_110_fuse_to_103",),
    "a partial release is credited later": ("tests/services/test_execution.py::test_a_partial_release_is_credited_later",),
}
NAMED = [test for part in (LEDGER, QUEUE_AND_RANDOMNESS, CREDIT) for tests in part.values() for test in tests]


@cache
def functions(path: str) -> set[str]:
    """The names of a file's test functions."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_each_case_has_its_test() -> None:
    for test in NAMED:
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), test
        assert not name or name in functions(path), test


ROME = {"column": "city", "equals": "Rome"}


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)


def test_blank_cells_change_no_charge(people: Cast) -> None:
    """Cities blank or unreadable fall where the schema says: the price is the one of a full column."""
    blank = [dict(row) | {"city": ("", "NaN", "?")[place % 3]} for place, row in enumerate(ROWS)]
    for rows in (ROWS, blank):
        contract = make_contract(people, rows=rows)
        query = ask(people.alice, contract, {"column": "city", "in": ["Rome", "Oslo"]}, within=10)
        missing = ask(people.alice, contract, {"column": "city", "is_missing": True}, within=10)
        run(contract)
        assert decision(query).load == decision(missing).load == units("0.019207294104")
        assert answer(query).value is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"column": "age", "at_least": 30}, {"column": "age", "more_than": 30}),
        ({"column": "city", "in": ["Oslo", "Rome", "Lima"]}, {"not": {"column": "city", "in": ["Oslo", "Rome", "Lima"]}}),
        ({"column": "city", "is_missing": False}, {"always": True}),
        ({"any": [ROME, {"column": "city", "is_missing": True}]}, ROME),
    ],
)  # fmt: skip
def test_what_differs_in_one_cell_never_credits(
    people: Cast, contract: Contract, first: dict[str, object], second: dict[str, object]
) -> None:
    for where in (first, second):
        ask(people.alice, contract, where, rho="0.01")
    run(contract)
    assert list(LedgerEntry.objects.values_list("load", flat=True)) == [units("0.01")] * 2


SEEDED = """
import numpy, random
numpy.random.seed(1); random.seed(1)
from curator.mechanism.noise import ExactCount, release
print([release(ExactCount(0), 10**6).value for _ in range(8)])
"""


def test_no_seed_from_outside_makes_noise_repeat() -> None:
    env = os.environ | {"PYTHONHASHSEED": "0"}
    words = [sys.executable, "-c", SEEDED]
    drawn = [subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert drawn[0] != drawn[1] and drawn[0].count(",") == 7
