"""The tree of a condition, and its JSON form, which is what the API takes and what is stored with a query.

`{"all": […]}`, `{"any": […]}`, `{"not": …}`, `{"always": true}`, or one column with one operator:
`{"column": "age", "between": [30, 39]}`, `{"column": "region", "in": ["R1"]}`, `{"column": "income", "is_missing": true}` and the
others in `OPERATORS`. Reading checks the shape only; what the names and values mean is checked against a schema in `leaves`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from curator.mechanism.errors import BadInput, TooLarge
from curator.mechanism.values import Literal, echo, harmless, hint

MAX_DEPTH = 32  # of all, any and not inside each other; SQL counts brackets and NOT alike
MAX_LEAVES = 500  # conditions of one question: reading and combining so many takes well below half a second

LISTS = ("in", "between")
FLAGS = ("is_missing", "is_other")
SINGLES = ("equals", "not_equals", "at_least", "at_most", "more_than", "less_than")
OPERATORS = (*LISTS, *FLAGS, *SINGLES)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One column, one operator and its values (`is_missing` and `is_other` have none)."""

    column: str
    operator: str
    values: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds (AND)."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Some part holds (OR)."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false: unknown stays unknown."""

    part: "Condition"


@dataclass(frozen=True, slots=True)
class Always:
    """Every cell, or none."""

    value: bool


Condition = Leaf | AllOf | AnyOf | Not | Always
Resolve = Callable[[Leaf, str], Leaf]  # a leaf and the field it came from


def unknown_field(whole: str, key: object, tip: str, field: str = "") -> BadInput:
    """The refusal of a member that an object does not have."""
    return BadInput("unknown_field", f"{whole} has no {echo(key)}.{tip}", field=f"{field}.{harmless(str(key))}".removeprefix("."))


def keep(leaf: Leaf, _field: str) -> Leaf:
    """No resolution: the leaf as it was written."""
    return leaf


def too_long(field: str) -> TooLarge:
    """The refusal of a question that takes too long to read."""
    return TooLarge("condition_too_long", f"A question has at most {MAX_LEAVES} conditions.", field=field, maximum=MAX_LEAVES)


def check_length(obj: object, *, field: str = "where") -> None:
    """Refuse (condition_too_long) a JSON tree of more than MAX_LEAVES conditions, before any of it is read; looks at no more."""
    waiting, leaves = [obj], 0
    while waiting and leaves <= MAX_LEAVES:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part[: MAX_LEAVES + 1]
        elif isinstance(part, Mapping) and ("all" in part or "any" in part or "not" in part):
            waiting += [part[word] for word in ("all", "any", "not") if word in part]
        else:
            leaves += 1
    if leaves > MAX_LEAVES:
        raise too_long(field)


def leaves_of(condition: Condition | None) -> int:
    """How many conditions a tree is made of."""
    match condition:
        case AllOf(parts) | AnyOf(parts):
            return sum(map(leaves_of, parts))
        case Not(part):
            return leaves_of(part)
        case _:
            return int(condition is not None)


def condition_from_json(obj: object, *, field: str = "where", resolve: Resolve = keep, depth: int = 0) -> Condition:
    """The tree of a JSON condition; refuses what is none, with the field ("where.all[2].in")."""
    if depth > MAX_DEPTH:
        raise TooLarge("too_deep", f"Conditions nest at most {MAX_DEPTH} deep.", field=field[:200], maximum=MAX_DEPTH)
    if not isinstance(obj, Mapping):
        raise BadInput("bad_condition", f"Expected an object with all, any, not or column, not {echo(obj)}.", field=field)
    if not obj:
        raise BadInput("empty_condition", "This condition is empty: name a column, or leave it out.", field=field)
    if "column" in obj:
        return resolve(_leaf(obj, field), field)
    word = _only_key(obj, field)
    if word == "always":
        return Always(_flag(obj["always"], f"{field}.always"))
    if word == "not":
        return Not(condition_from_json(obj["not"], field=f"{field}.not", resolve=resolve, depth=depth + 1))
    read = tuple(
        condition_from_json(part, field=f"{field}.{word}[{place}]", resolve=resolve, depth=depth + 1)
        for place, part in enumerate(_parts(obj[word], f"{field}.{word}"))
    )
    return AllOf(read) if word == "all" else AnyOf(read)


def _parts(value: object, field: str) -> list[object]:
    if not isinstance(value, list):
        raise BadInput("bad_condition", f"Expected a list of conditions, not {echo(value)}.", field=field)
    if not value:
        raise BadInput("empty_condition", "This list of conditions is empty.", field=field)
    return value


def _only_key(obj: Mapping[str, object], field: str) -> str:
    known = ("all", "any", "not", "always")
    strange = [key for key in obj if key not in known]
    if strange:
        tip = " Name the column." if strange[0] in OPERATORS else hint(str(strange[0]), (*known, "column"))
        raise unknown_field("A condition", strange[0], tip, field)
    if len(obj) != 1:
        raise BadInput("bad_condition", f"Expected one of {', '.join(known)}, not several at once.", field=field)
    return str(next(iter(obj)))


def _leaf(obj: Mapping[str, object], field: str) -> Leaf:
    column = obj["column"]
    if not isinstance(column, str):
        raise BadInput("bad_condition", f"Expected the name of a column, not {echo(column)}.", field=f"{field}.column")
    for key in obj:
        if key != "column" and key not in OPERATORS:
            raise unknown_field("A condition", key, hint(str(key), OPERATORS), field)
    words = [key for key in obj if key != "column"]
    if len(words) != 1:
        raise BadInput("bad_condition", f"Expected exactly one of {', '.join(OPERATORS)} beside the column.", field=field)
    word, value = words[0], obj[words[0]]
    if word in FLAGS:
        return Leaf(column, word if _flag(value, f"{field}.{word}") else f"not_{word}")
    return Leaf(column, word, _values(word, value, f"{field}.{word}"))


def _values(word: str, value: object, field: str) -> tuple[Literal, ...]:
    if word in SINGLES:
        return (_literal(value, field),)
    if not isinstance(value, list):
        raise BadInput("bad_condition", f"Expected a list of values, not {echo(value)}.", field=field)
    if word == "between" and len(value) != 2:
        raise BadInput("bad_condition", "Expected two values, the lowest and the highest, both included.", field=field)
    if not value:
        raise BadInput("empty_condition", "Expected at least one value.", field=field)
    return tuple(_literal(item, f"{field}[{place}]") for place, item in enumerate(value))


def _literal(value: object, field: str) -> Literal:
    if value is None:
        raise BadInput("null_value", "A missing value equals nothing: use is_missing.", field=field)
    if isinstance(value, str | int | Decimal | bool):
        return value
    raise BadInput("bad_value", f"Expected a text, a number or true/false, not {echo(value)}.", field=field)


def _flag(value: object, field: str) -> bool:
    if isinstance(value, bool):
        return value
    raise BadInput("bad_condition", f"Expected true or false, not {echo(value)}.", field=field)


def condition_to_json(condition: Condition) -> dict[str, object]:
    """The JSON form: texts, whole numbers, booleans and lists only (other numbers as texts), so that it can be hashed."""
    match condition:
        case Leaf(column, operator, values):
            if operator.removeprefix("not_") in FLAGS:
                return {"column": column, operator.removeprefix("not_"): not operator.startswith("not_")}
            plain = [str(value) if isinstance(value, Decimal) else value for value in values]
            return {"column": column, operator: plain[0] if operator in SINGLES else plain}
        case AllOf(parts):
            return {"all": [condition_to_json(part) for part in parts]}
        case AnyOf(parts):
            return {"any": [condition_to_json(part) for part in parts]}
        case Not(part):
            return {"not": condition_to_json(part)}
        case Always(value):
            return {"always": value}
