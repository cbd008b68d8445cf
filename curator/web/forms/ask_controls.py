"""The Ask form's controls as a template shows them: options, the widget that fits a column and a test, problems beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

from curator.mechanism.columns import Column
from curator.mechanism.schema import Schema
from curator.web.forms.ask_body import FLAGS
from curator.web.forms.ask_state import MAX_GROUPS, SQL_ROW, AskState, Group, Row, find, tests
from curator.web.problems import Problem

CHIPS = 24  # values shown as chips; more become a list to choose from
TYPED = 400  # values offered in a list; more are typed


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a list."""

    value: str
    text: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class RowControl:
    """One condition. `widget`: none, one, lines, range, choose, chips, many or sql; `input_type` and bounds for typed values."""

    place: int
    columns: tuple[Option, ...]
    tests: tuple[Option, ...]
    widget: str
    options: tuple[Option, ...]
    value: str
    low: str
    high: str
    text: str
    input_type: str
    lowest: str
    highest: str
    step: str
    problem: str

    @property
    def place_text(self) -> str:
        return str(self.place)

    @property
    def number(self) -> int:
        return self.place + 1


@dataclass(frozen=True, slots=True)
class GroupControl:
    """One grouping."""

    place: int
    columns: tuple[Option, ...]
    hows: tuple[Option, ...]
    text: str
    text_label: str
    unit: str
    problem: str

    @property
    def place_text(self) -> str:
        return str(self.place)

    @property
    def number(self) -> int:
        return self.place + 1


@dataclass(frozen=True, slots=True)
class Controls:
    """The whole form."""

    state: AskState
    rows: tuple[RowControl, ...]
    groups: tuple[GroupControl, ...]
    may_group: bool
    kinds: tuple[Option, ...]
    unit: str
    sure: bool
    together: bool
    scarcity: tuple[Option, ...]
    problems: dict[str, str]


KINDS = {
    "within": "within ± people",
    "relative": "within ± % of the value",
    "standard_error": "standard error",
    "rho": "spend exactly (ρ)",
}
UNITS = {"within": "people", "relative": "%", "standard_error": "people", "rho": "ρ"}
SCARCITY = {"partial": "give the best it can", "all_or_nothing": "spend nothing"}
HOWS = {"each": "each value", "bins": "equal bins", "edges": "own edges"}


def controls(state: AskState, schema: Schema, problems: Sequence[Problem]) -> Controls:
    """The controls for a form in this state."""
    told = {problem.field: problem.text for problem in problems}
    return Controls(
        state=state,
        rows=tuple(_row(place, row, schema, told.get(f"row-{place}", "")) for place, row in enumerate(state.rows)),
        groups=tuple(_group(place, group, schema, told.get(f"group-{place}", "")) for place, group in enumerate(state.groups)),
        may_group=len(state.groups) < min(MAX_GROUPS, len(schema.columns)),
        kinds=_options(KINDS, state.kind),
        unit=UNITS.get(state.kind, ""),  # a kind that is not in the list is refused where the body is made
        sure=state.kind in ("within", "relative"),
        together=state.kind == "within" and (bool(state.groups) or state.view == "sql"),
        scarcity=_options(SCARCITY, state.under_scarcity),
        problems=told,
    )


def _options(choices: dict[str, str], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, text, value == chosen) for value, text in choices.items())


def _columns(schema: Schema, chosen: str) -> tuple[Option, ...]:
    return tuple(Option(column.name, column.title or column.name, column.name == chosen) for column in schema.columns)


def _row(place: int, row: Row, schema: Schema, problem: str) -> RowControl:
    column = find(schema, row.column)
    if row.test == SQL_ROW or column is None:
        return _control(place, row, problem, widget="sql", schema=schema)
    known = tests(column)
    test = row.test if row.test in known else next(iter(known))
    widget = _widget(column, test)
    return _control(place, row, problem, widget=widget, schema=schema, column=column, tests=_options(known, test))


def _control(
    place: int,
    row: Row,
    problem: str,
    *,
    widget: str,
    schema: Schema,
    column: Column | None = None,
    tests: tuple[Option, ...] = (),
) -> RowControl:
    bounded = column is not None and column.ordered
    return RowControl(
        place=place, columns=_columns(schema, row.column), tests=tests, widget=widget,
        options=_choices(column, row) if column and widget in ("choose", "chips", "many") else (),
        value="\n".join(row.values) if widget == "lines" else row.values[0] if row.values else "",
        low=row.low, high=row.high, text=row.text,
        input_type="date" if column and column.kind == "date" else "text" if not bounded else "number",
        lowest=column.low if column and bounded else "", highest=column.high if column and bounded else "",
        step=column.step or "1" if column and bounded else "", problem=problem,
    )  # fmt: skip


def _widget(column: Column, test: str) -> str:
    if test in FLAGS:
        return "none"
    if test in ("between", "not_between"):
        return "range"
    if column.ordered:
        return "lines" if test == "in" else "one"
    if column.value_count > TYPED:
        return "one" if test in ("equals", "not_equals") else "lines"
    if test in ("equals", "not_equals"):
        return "choose"
    return "chips" if column.value_count <= CHIPS else "many"


def _choices(column: Column, row: Row) -> tuple[Option, ...]:
    chosen = set(row.values)
    words = {"true": "yes", "false": "no"} if column.kind == "boolean" else {}
    labels = [column.label(code) for code in range(column.value_count)]
    return tuple(Option(label, words.get(label, label), label in chosen) for label in labels)


def _group(place: int, group: Group, schema: Schema, problem: str) -> GroupControl:
    column = find(schema, group.column)
    ordered = column is not None and column.ordered
    label, unit = {"bins": ("How many bins", "bins"), "edges": ("Edges, apart by commas", "")}.get(group.how, ("", ""))
    return GroupControl(
        place, _columns(schema, group.column), _options(HOWS, group.how) if ordered else (), group.text,
        label if ordered else "", unit, problem,
    )  # fmt: skip
