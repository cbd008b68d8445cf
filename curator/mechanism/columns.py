"""One column of the public schema: its finite domain, its codes, and the total map from file text to a code.

Codes: 0 … n-1 are the declared values in order, then `other` where values outside the domain are kept apart, then `missing`
where nulls are allowed. What a file's text becomes (`encode_text`), after the trim rule of `values.normalise`:

- blank, null or a declared missing text: `missing`; without it `other`; without either the lowest value;
- unreadable (`abc` as an integer, a category that is not declared): `other`; without it `missing`; without either the lowest
  value;
- a readable number or date outside the bounds: the nearest bound (`clamp`), `other` or `missing`, as `out_of_domain` says;
- between two grid points: the point below (5.7 as an integer is 5).

So the map never fails. A question's values are read more strictly (`encode_literal`): a value that is no element of the
domain is refused.
"""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from curator.mechanism.dates import FORMS, ISO
from curator.mechanism.domains import MAX_CODES, Grid, Listed, date_grid, number_grid
from curator.mechanism.errors import BadInput
from curator.mechanism.values import MAX_TEXT, Literal, echo, has_control, hint, normalise, whole_key

KINDS = ("category", "boolean", "integer", "decimal", "date")
ORDERED = ("integer", "decimal", "date")
RULES = ("clamp", "other", "missing")
TRUE_TEXTS = ("true", "t", "yes", "y", "1")
FALSE_TEXTS = ("false", "f", "no", "n", "0")
MAX_VALUES = 20_000  # categories of one column


@dataclass(frozen=True, slots=True)
class Column:
    """A named attribute with a finite ordered domain; refuses a declaration that is not one (field: which part of it).

    `spellings` of a category are other texts by which the file says a value: `("F", ("f", "female"))`.

    `low`, `high`, `step` are texts (numbers or ISO dates); `date_format` is how the file writes dates. `out_of_domain` empty
    means: `clamp` for ordered kinds, else `missing` where nulls are allowed, else `other`, which a category or boolean needs.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    step: str = ""
    missing: bool = False
    out_of_domain: str = ""
    missing_texts: tuple[str, ...] = ("",)
    true_texts: tuple[str, ...] = TRUE_TEXTS
    false_texts: tuple[str, ...] = FALSE_TEXTS
    spellings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    title: str = ""
    date_format: str = ISO
    domain: Listed | Grid = field(init=False, repr=False, compare=False)
    _missing_positions: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _name(self.name))
        if self.kind not in KINDS:
            raise BadInput("bad_schema", f"A column is one of {', '.join(KINDS)}, not {echo(self.kind)}.", field="kind")
        object.__setattr__(self, "missing_texts", _texts(self.missing_texts, "missing_texts", blank=True))
        self._refuse_strangers()
        self._settle_rule()
        object.__setattr__(self, "domain", self._make_domain())
        if self.ordered:
            self._settle_bounds()
        positions = [self.domain.read(text) for text in self.missing_texts] if isinstance(self.domain, Grid) else []
        object.__setattr__(self, "_missing_positions", tuple(place for place in positions if place is not None))

    def _refuse_strangers(self) -> None:
        """What another kind of column is declared with would be silently without effect here."""
        strange = {
            "values": bool(self.values) and self.kind != "category",
            "spellings": bool(self.spellings) and self.kind != "category",
            "low": bool(self.low) and not self.ordered,
            "high": bool(self.high) and not self.ordered,
            "step": self.step not in ("", "1") if self.kind == "integer" else bool(self.step) and self.kind != "decimal",
            "true_texts": self.true_texts != TRUE_TEXTS and self.kind != "boolean",
            "false_texts": self.false_texts != FALSE_TEXTS and self.kind != "boolean",
            "date_format": self.date_format != ISO and self.kind != "date",
            "title": len(self.title) > MAX_TEXT or has_control(self.title),
        }
        for name in (name for name, wrong in strange.items() if wrong):
            raise BadInput("bad_schema", f"This {name} has no meaning for a column of kind {self.kind}.", field=name)

    def _settle_bounds(self) -> None:
        """Bounds and step in their canonical spelling, so that equal columns are equal values."""
        object.__setattr__(self, "low", self.label(0))
        object.__setattr__(self, "high", self.label(self.value_count - 1))
        object.__setattr__(self, "step", format(Decimal(self.step).normalize(), "f") if self.kind == "decimal" else "")

    def _settle_rule(self) -> None:
        fallback = "missing" if self.missing else "other"
        rule = self.out_of_domain or ("clamp" if self.ordered else fallback)
        if rule not in RULES:
            raise BadInput("bad_schema", f"Expected one of {', '.join(RULES)}, not {echo(rule)}.", field="out_of_domain")
        if rule == "clamp" and not self.ordered:
            raise BadInput("bad_schema", f"A {self.kind} has no nearest bound: use other or missing.", field="out_of_domain")
        if rule == "missing" and not self.missing:
            raise BadInput("bad_schema", 'The rule "missing" needs a column that allows missing values.', field="out_of_domain")
        object.__setattr__(self, "out_of_domain", rule)

    def _make_domain(self) -> Listed | Grid:
        if self.kind == "category":
            return self._categories()
        if self.kind == "boolean":
            return self._truth()
        for name in ("low", "high"):
            if not getattr(self, name):
                raise BadInput("bad_schema", f"The {name}est value of {echo(self.name)} is needed.", field=name)
        if self.kind == "date":
            return date_grid(self.low, self.high, self._form())
        if self.kind == "decimal" and not self.step:
            raise BadInput("bad_schema", f"The step between two values of {echo(self.name)} is needed.", field="step")
        grid = number_grid(self.low, self.high, self.step if self.kind == "decimal" else "1")
        if self.kind == "integer" and grid.places:
            raise BadInput("bad_schema", f"Expected a whole number, not {echo(self.low)}.", field="low")
        return grid

    def _form(self) -> str:
        if self.date_format in FORMS:
            return self.date_format
        raise BadInput("bad_schema", f"Expected one of {', '.join(FORMS)}, not {echo(self.date_format)}.", field="date_format")

    def _categories(self) -> Listed:
        values = _texts(self.values, "values", blank=False)
        if not 1 <= len(values) <= MAX_VALUES:
            raise BadInput("bad_schema", f"Declare 1 to {MAX_VALUES:,} values, not {len(values):,}.", field="values")
        if clash := set(values) & set(self.missing_texts):
            raise BadInput("bad_schema", f"{echo(min(clash))} cannot be both a value and missing.", field="missing_texts")
        object.__setattr__(self, "values", values)
        spelled = ((_name(value), _texts(texts, "spellings", blank=False)) for value, texts in self.spellings)
        object.__setattr__(self, "spellings", tuple(sorted((value, texts) for value, texts in spelled if texts)))
        if clash := {text for _, texts in self.spellings for text in texts} & set(self.missing_texts):
            raise BadInput("bad_schema", f"{echo(min(clash))} cannot be both a value and missing.", field="spellings")
        return Listed(values, self.spellings)

    def _truth(self) -> Listed:
        sets = []
        for name in ("true_texts", "false_texts"):
            texts = _texts(tuple(text.casefold() for text in getattr(self, name)), name, blank=False)
            object.__setattr__(self, name, texts)
            sets.append(set(texts))
        if clash := (sets[0] & sets[1]) | ((sets[0] | sets[1]) & set(self.missing_texts)):
            raise BadInput("bad_schema", f"{echo(min(clash))} cannot mean two things.", field="false_texts")
        return Listed(("false", "true"))

    @property
    def ordered(self) -> bool:
        """Whether <, > and bins have a meaning."""
        return self.kind in ORDERED

    @property
    def value_count(self) -> int:
        """How many declared values there are."""
        return self.domain.count

    @property
    def other_code(self) -> int | None:
        """The code of values outside the domain, where they are kept apart."""
        return self.value_count if self.out_of_domain == "other" else None

    @property
    def missing_code(self) -> int | None:
        """The code of nulls, where they are allowed: always the last."""
        return self.size - 1 if self.missing else None

    @property
    def size(self) -> int:
        """Number of codes: declared values, `other`, `missing`."""
        return self.value_count + (self.out_of_domain == "other") + self.missing

    def label(self, code: int) -> str:
        """The canonical text of a code; "other" and "missing" for those two, in brackets where a declared value has that name."""
        if not 0 <= code < self.size:
            raise ValueError(f"no code {code} in column {self.name}")
        if code < self.value_count:
            return self.domain.label(code)
        label = "other" if code == self.other_code else "missing"
        return f"({label})" if label in self.values else label

    def encode_text(self, text: str | None) -> int:
        """The code of a file's text (None: null); total, see the module's rules."""
        tidy = normalise(text or "")
        if not tidy or tidy in self.missing_texts:
            return self._fallback(self.missing_code, self.other_code)
        if isinstance(self.domain, Grid):
            return self._encode_position(self.domain, tidy)
        code = self._truth_code(tidy) if self.kind == "boolean" else self.domain.find_spelled(tidy)
        return code if code is not None else self._fallback(self.other_code, self.missing_code)

    def _encode_position(self, grid: Grid, text: str) -> int:
        position = grid.read(text, from_file=True)
        if position is None:
            return self._fallback(self.other_code, self.missing_code)
        if position in self._missing_positions:
            return self._fallback(self.missing_code, self.other_code)
        if grid.inside(position) or self.out_of_domain == "clamp":
            return grid.clamp(position)
        return self._fallback(self.other_code, self.missing_code)

    @staticmethod
    def _fallback(first: int | None, second: int | None) -> int:
        return first if first is not None else second if second is not None else 0

    def _truth_code(self, text: str) -> int | None:
        folded = whole_key(text.casefold())
        return 1 if folded in self.true_texts else 0 if folded in self.false_texts else None

    def encode_literal(self, value: Literal) -> int:
        """The code of a value in a question; refuses (out_of_domain) what is no declared value, with what was expected."""
        code = self._find(value)
        if code is None:
            raise BadInput(
                "out_of_domain", f"{echo(value)} is not a value of {echo(self.name)}: {self._expected(value)}", column=self.name
            )
        return code

    def _find(self, value: Literal) -> int | None:
        if self.kind == "boolean":
            return int(value) if isinstance(value, bool) else self._truth_code(_plain(value))
        if isinstance(self.domain, Listed):
            return None if isinstance(value, bool) else self.domain.find(_plain(value))
        position = None if isinstance(value, bool) else self.domain.read(_plain(value))
        on_grid = position is not None and position.denominator == 1 and self.domain.inside(position)
        return int(position) if on_grid and position is not None else None

    def position(self, value: Literal) -> Fraction:
        """Where a value lies on an ordered column, in steps above the lowest (any fraction, also outside the domain).

        Refuses a column without order (not_ordered) and what is no number or date (bad_value).
        """
        if not isinstance(self.domain, Grid):
            raise BadInput(
                "not_ordered",
                f"{echo(self.name)} is a {self.kind}: it has no order to compare by. Use =, <> or IN.",
                column=self.name,
            )
        position = None if isinstance(value, bool) else self.domain.read(_plain(value))
        if position is None:
            wanted = "a date written YYYY-MM-DD" if self.domain.dates else "a number between -10^30 and 10^30"
            raise BadInput(
                "bad_value", f"{echo(value)} cannot be compared with {echo(self.name)}: expected {wanted}.", column=self.name
            )
        return position

    def _expected(self, value: Literal) -> str:
        if isinstance(value, str) and normalise(value) in ("", *self.missing_texts) and self.missing:
            return "missing values are asked for with IS NULL."
        if self.kind == "boolean":
            return "expected true or false."
        if isinstance(self.domain, Listed):
            return f"expected one of {_some(self.domain.values)}.{hint(_plain(value), self.domain.values)}"
        step = f" in steps of {self.step}" if self.kind == "decimal" else ""
        whole = "a whole number" if self.kind == "integer" else f"a {self.kind}"
        return f"expected {whole} from {self.label(0)} to {self.label(self.value_count - 1)}{step}."


def _plain(value: Literal) -> str:
    """A literal as text; whole decimals (5.0) keep their point, which every reader here understands."""
    if isinstance(value, str):
        return normalise(value)
    if isinstance(value, int) and abs(value) > MAX_CODES * 10**30:
        return "a huge number"
    return str(value)


def _some(values: tuple[str, ...]) -> str:
    shown = ", ".join(echo(value) for value in values[:8])
    return shown if len(values) <= 8 else f"{shown}, … ({len(values):,} in all)"


def _name(name: str) -> str:
    tidy = normalise(name)
    if not tidy or len(tidy) > MAX_TEXT or has_control(tidy):
        raise BadInput(
            "bad_schema", f"A column needs a name of 1 to {MAX_TEXT} characters without control characters.", field="name"
        )
    return tidy


def _texts(texts: tuple[str, ...], name: str, *, blank: bool) -> tuple[str, ...]:
    tidy = tuple(normalise(text) for text in texts)
    for text in tidy:
        if len(text) > MAX_TEXT or has_control(text) or not (text or blank):
            raise BadInput(
                "bad_schema", f"{echo(text)} is not a text of 1 to {MAX_TEXT} characters without control characters.", field=name
            )
    if len(set(tidy)) < len(tidy):
        double = Counter(tidy).most_common(1)[0][0]
        raise BadInput("bad_schema", f"{echo(double)} is listed twice.", field=name)
    return tidy
