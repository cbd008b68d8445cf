"""What people's files did to systems of this kind, in our words, each with the test that would notice it."""

from rdp_site.environment import ROOT
from tests.services.test_field_cases import functions

READING, FREEZING, MESSY = "tests/engine/test_reading.py", "tests/engine/test_freezing.py", "tests/engine/test_messy_files.py"
BINS, ANSWERS = "tests/language/test_bins.py", "tests/services/test_file_answers.py"

CASES = {
    "quotes around every cell": (f"{READING}::test_quotes_around_every_cell_are_no_part_of_it",),
    "a cell over three lines is one record": (f"{READING}::test_a_cell_over_three_lines_is_one_cell_of_one_record",),
    "white space before and after a word: one trim rule": (f"{FREEZING}::test_white_space_around_a_word_is_no_part_of_it",),
    "blank and repeated names are refused with places; names that differ in one sign are two": (
        f"{READING}::test_blank_and_repeated_names_are_refused_with_their_positions",
        f"{READING}::test_names_that_differ_in_one_sign_are_two_columns",
        "tests/web/test_uploads.py::test_a_repeated_header_is_refused_with_places_and_mended",
    ),
    "tabs in a .csv, semicolons with decimal commas: found and shown": (
        f"{READING}::test_the_delimiter_is_found_whatever_the_file_is_called",
        f"{FREEZING}::test_a_semicolon_in_the_header_makes_commas_decimal",
        "tests/web/test_uploads.py::test_from_a_messy_file_to_a_version",
    ),
    "words for nothing stay words unless declared missing": (
        f"{READING}::test_words_that_mean_nothing_elsewhere_stay_words",
        f"{FREEZING}::test_words_for_nothing_are_values_unless_declared_missing",
    ),
    "a byte-order mark is no part of the first name": (f"{READING}::test_every_unicode_encoding_gives_the_same_table",),
    "a header alone, one row, three rows: noisy answers as usual, no error that depends on the size": (
        f"{ANSWERS}::test_files_of_every_size_and_mess_are_asked_at_one_price",
        f"{FREEZING}::test_a_table_of_any_size_is_a_version_whose_counts_can_be_asked",
    ),
    "UTF-16, Latin-1, two normal forms, pictures in names: the same on both sides": (
        f"{READING}::test_every_unicode_encoding_gives_the_same_table",
        f"{READING}::test_latin_1_is_read_as_meant_and_the_curator_is_told",
        f"{FREEZING}::test_a_word_in_another_normal_form_or_encoding_is_the_same_word",
    ),
    "an empty file, a picture under another name: a clean refusal": (
        f"{READING}::test_what_is_no_table_is_refused_whatever_it_is_called",
    ),
    "ages that are none, endless or blank: the declared rule, and noise": (
        f"{FREEZING}::test_ages_that_are_none_follow_the_declared_rule",
        f"{ANSWERS}::test_files_of_every_size_and_mess_are_asked_at_one_price",
    ),
    "an empty bin: mean about nought, half below, never clipped": (
        "tests/mechanism/test_promises_noise.py::test_an_empty_bin_is_released_like_any_other_half_of_the_time_below_zero",
        "tests/web/test_answers.py::test_a_negative_count_stays_and_is_explained",
    ),
    "a filter that matches nobody in the data is an ordinary noisy number": (
        f"{ANSWERS}::test_a_condition_that_matches_nobody_in_the_file_is_an_ordinary_noisy_number",
    ),
    "blank cells between whole numbers": (f"{FREEZING}::test_blank_cells_between_numbers_are_blank",),
    "categories typed as numbers match by meaning": (
        f"{MESSY}::test_categories_typed_as_numbers_match_however_the_file_spells_them",
    ),
    "Y, N and true, FALSE, 1: the curator maps them": (
        f"{FREEZING}::test_the_curator_says_what_is_true",
        f"{MESSY}::test_the_curator_says_what_other_spellings_mean",
        "tests/browser/test_files.py::test_carol_takes_a_messy_file_to_an_open_contract",
    ),
    "ten categories declared, three present: ten noisy values of their own": (
        f"{ANSWERS}::test_ten_declared_categories_of_which_three_occur_give_ten_values_of_their_own",
    ),
    "56 bins over 20 to 75 and not one more; a million refused": (
        f"{BINS}::test_56_bins_over_20_to_75_and_not_one_more",
        f"{BINS}::test_a_million_bins_are_refused_with_the_maximum",
    ),
    "equal bins over 1 to 100 are exactly as many, the last with the maximum": (
        f"{BINS}::test_equal_bins_over_1_to_100_are_exactly_as_many_and_the_last_ends_with_the_maximum",
    ),
    "overlapping edges are refused, a gap goes to other and is said": (
        f"{BINS}::test_edges_that_are_no_bins_are_refused",
        f"{BINS}::test_a_gap_between_edges_is_counted_as_other_and_said",
    ),
    "the same file again, shuffled: a warning, a reason, an event, before a second contract": (
        "tests/web/test_uploads.py::test_the_same_records_again_need_a_word_before_a_second_contract",
    ),
    "data replaced by a second version: no credit, spending adds up": (
        f"{ANSWERS}::test_nothing_is_credited_across_versions_and_spending_adds_up",
    ),
}


def test_each_case_of_a_file_has_its_test() -> None:
    for test in (test for tests in CASES.values() for test in tests):
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), test
        assert name in functions(path), test
