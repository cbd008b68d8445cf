"""SQL to a question: sqlglot reads, and only the few shapes that mean a count are taken over.

`SELECT COUNT(*) [, grouped columns] FROM people [WHERE …] [GROUP BY column | BIN(column, n) | EDGES(column, a, b, …) |
EDGES(column, (a, b), (c, d), …), …]`. Conditions: `= <> != < <= > >= BETWEEN IN IS NULL NOT AND OR`, `IS_OTHER(column)` for
values outside the declared domain, a boolean column by itself, TRUE and FALSE. Names are case-sensitive; a name in double quotes
can hold anything. Every node is checked to hold nothing but what is taken over: what is not understood is refused, never dropped.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError

from curator.language.conditions import AllOf, Always, AnyOf, Condition, Leaf, Not
from curator.language.leaves import resolve
from curator.language.question import Edge, GroupBy, Question, check_distinct, resolve_group, whole_bins
from curator.language.sql_tokens import Place, read_tokens
from curator.mechanism.errors import BadInput
from curator.mechanism.schema import Schema
from curator.mechanism.values import Literal, read_number

_COMPARISONS: dict[type[exp.Expr], tuple[str, str]] = {  # with the column on the left, and on the right
    exp.EQ: ("equals", "equals"),
    exp.NEQ: ("not_equals", "not_equals"),
    exp.LT: ("less_than", "more_than"),
    exp.LTE: ("at_most", "at_least"),
    exp.GT: ("more_than", "less_than"),
    exp.GTE: ("at_least", "at_most"),
}

_COMPLAINTS = {
    "Invalid expression": "this is not expected here.",
    "Required keyword": "something is missing here.",
    "Expecting )": "a closing bracket is missing here.",
}

T = TypeVar("T")


def parse_sql(sql: str, *, schema: Schema, table: str, of_record: bool = False) -> Question:
    """The question of an SQL text; refuses (BadInput, field "sql") everything else with line, column and reason.

    `of_record`: it was asked and is read once more, however long it is: only what newly arrives is bounded in its length.
    """
    return _Reader(sql, schema, table).question(_tree(sql, schema, table, of_record=of_record))


def _tree(sql: str, schema: Schema, table: str, *, of_record: bool) -> exp.Expr:
    tokens = read_tokens(sql, names=schema.names, table=table, of_record=of_record)
    try:
        trees = [tree for tree in Dialect.get_or_raise(None).parser().parse(tokens, sql) if tree is not None]
    except ParseError as error:
        raise _unread(sql, error) from error
    except RecursionError as error:
        raise BadInput("too_deep", "This SQL nests too deep.", field="sql") from error
    if len(trees) != 1:
        raise BadInput("bad_sql", "Expected one SELECT, not several statements.", field="sql")
    return trees[0]


def _unread(sql: str, error: ParseError) -> BadInput:
    """The parser's complaint in our words: its own name Python classes."""
    first = error.errors[0] if error.errors else {}
    lines = sql.splitlines(keepends=True) or [""]
    before = sum(len(line) for line in lines[: int(first.get("line") or 1) - 1])
    end = min(before + int(first.get("col") or 0), len(sql))
    start = max(0, end - len(str(first.get("highlight") or "")))
    said = str(first.get("description") or "")
    reason = next((ours for theirs, ours in _COMPLAINTS.items() if said.startswith(theirs)), "this could not be read.")
    return Place(sql, start, end).refuse(reason)


class _Reader:
    """One SQL text being read; remembers what error messages need."""

    def __init__(self, sql: str, schema: Schema, table: str) -> None:
        self.sql, self.schema, self.table = sql, schema, table

    def question(self, tree: exp.Expr) -> Question:
        if not isinstance(tree, exp.Select):
            raise self.refuse(tree, "a question begins with SELECT COUNT(*).", "not_a_count")
        self.only(tree, "expressions", "from_", "where", "group")
        self._check_count(tree.expressions)
        self._check_table(tree.args.get("from_"))
        where, group = tree.args.get("where"), tree.args.get("group")
        groups = self._groups(group) if group is not None else ()
        self._check_results(tree.expressions, groups)
        return Question(self.condition(where.this) if where is not None else None, groups)

    def _check_table(self, source: exp.Expr | None) -> None:
        named = source.this if source is not None else None
        if not isinstance(named, exp.Table) or named.name.casefold() != self.table.casefold():
            raise self.refuse(named, f"expected FROM {self.table}.", "unknown_table")
        self.only(named, "this")
        self.only(named.parent, "this")

    def _check_count(self, results: list[exp.Expr]) -> None:
        counts = [result for result in results if isinstance(result, exp.Count)]
        if len(counts) != 1:
            raise self.refuse(results[0] if results else None, "expected COUNT(*), once.", "not_a_count")
        self.only(counts[0], "this", "big_int")
        if not isinstance(counts[0].this, exp.Star) or any(counts[0].this.args.values()):
            raise self.refuse(counts[0], "write COUNT(*): it counts the persons for whom the condition holds.", "not_a_count")

    def _check_results(self, results: list[exp.Expr], groups: tuple[GroupBy, ...]) -> None:
        for result in results:
            if not isinstance(result, exp.Count) and self._group(result) not in groups:
                raise self.refuse(result, "only COUNT(*) and grouped columns can be selected.", "not_a_count")

    def _groups(self, group: exp.Expr) -> tuple[GroupBy, ...]:
        self.only(group, "expressions")
        groups = tuple(self._group(part) for part in group.expressions)
        check_distinct(groups)
        return groups

    def _group(self, part: exp.Expr) -> GroupBy:
        if isinstance(part, exp.Column):
            return self._resolved(part, GroupBy(self.column(part)))
        name = part.name.upper() if isinstance(part, exp.Anonymous) else ""
        if name not in ("BIN", "EDGES") or not part.expressions or not isinstance(part.expressions[0], exp.Column):
            reason = "expected a column, BIN(column, number of bins) or EDGES(column, edge, edge, …)."
            raise self.refuse(part, reason, "not_a_count")
        self.only(part, "this", "expressions")
        column, values = self.column(part.expressions[0]), part.expressions[1:]
        if name == "EDGES":
            return self._resolved(part, GroupBy(column, edges=tuple(map(self._edge, values))))
        number = self.literal(values[0]) if len(values) == 1 else None
        if not isinstance(number, int) or isinstance(number, bool):
            raise self.refuse(part, "expected BIN(column, whole number of bins).", "bad_group")
        return self._resolved(part, GroupBy(column, self._located(part, lambda: whole_bins(number, "sql"))))

    def _edge(self, value: exp.Expr) -> Edge:
        if isinstance(value, exp.Tuple) and len(value.expressions) == 2:
            self.only(value, "expressions")
            return self.literal(value.expressions[0]), self.literal(value.expressions[1])
        return self.literal(value)

    def _resolved(self, part: exp.Expr, group: GroupBy) -> GroupBy:
        return self._located(part, lambda: resolve_group(group, "group_by", self.schema))

    def condition(self, node: exp.Expr) -> Condition:
        """The condition of a parsed expression; AND and OR chains become flat lists, however long."""
        match node:
            case exp.Paren():
                return self.condition(node.this)
            case exp.Not():
                return Not(self.condition(node.this))
            case exp.And() | exp.Or():
                parts = tuple(self.condition(part) for part in _chain(node))
                return AllOf(parts) if isinstance(node, exp.And) else AnyOf(parts)
            case exp.Boolean():
                return Always(bool(node.this))
            case _:
                leaf = self._leaf(node)
                return self._located(node, lambda: resolve(leaf, "sql", self.schema))

    def _leaf(self, node: exp.Expr) -> Leaf:
        match node:
            case exp.Column():
                return self._flag(node)
            case exp.In():
                return self._in(node)
            case exp.Between():
                self.only(node, "this", "low", "high")
                return Leaf(self.column(node.this), "between", (self.literal(node.args["low"]), self.literal(node.args["high"])))
            case exp.Is() if isinstance(node.expression, exp.Null):
                return Leaf(self.column(node.this), "is_missing")
            case exp.Is():
                raise self.refuse(node, "IS takes NULL or NOT NULL only; compare with = instead.")
            case exp.Anonymous():
                return self._is_other(node)
            case _:
                return self._comparison(node)

    def _in(self, node: exp.In) -> Leaf:
        self.only(node, "this", "expressions")
        if not node.expressions:
            raise self.refuse(node, "expected at least one value in brackets after IN.", "empty_condition")
        return Leaf(self.column(node.this), "in", tuple(map(self.literal, node.expressions)))

    def _is_other(self, node: exp.Anonymous) -> Leaf:
        if node.name.upper() != "IS_OTHER" or len(node.expressions) != 1:
            raise self.refuse(node, "the only function in a condition is IS_OTHER(column).")
        return Leaf(self.column(node.expressions[0]), "is_other")

    def _flag(self, node: exp.Column) -> Leaf:
        name = self.column(node)
        if self._located(node, lambda: self.schema.column(name)).kind != "boolean":
            raise self.refuse(node, "a column by itself is a condition only if it is a boolean.")
        return Leaf(name, "equals", (True,))

    def _comparison(self, node: exp.Expr) -> Leaf:
        if type(node) not in _COMPARISONS:
            raise self.refuse(node, "expected a condition such as age >= 30, region IN ('R1', 'R2') or income IS NULL.")
        self.only(node, "this", "expression")
        left, right = node.this, node.expression
        if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
            return Leaf(self.column(right), _COMPARISONS[type(node)][1], (self.literal(left),))
        return Leaf(self.column(left), _COMPARISONS[type(node)][0], (self.literal(right),))

    def column(self, node: exp.Expr) -> str:
        """The name of a column, perhaps written table.column; whether it exists is asked elsewhere."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise self.refuse(
                node, 'expected the name of a column; one with other characters goes in double quotes ("capital-gain").'
            )
        self.only(node, "this", "table")
        if node.table and node.table.casefold() != self.table.casefold():
            reason = f"expected a column of {self.table}; a name with a point in it goes in double quotes."
            raise self.refuse(node, reason, "unknown_column")
        return node.name

    def literal(self, node: exp.Expr) -> Literal:
        """A text, number, date or boolean written out."""
        match node:
            case exp.Boolean():
                return bool(node.this)
            case exp.Literal() if node.is_string:
                return str(node.this)
            case exp.Literal():
                return self._number(node, str(node.this))
            case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
                return self._number(node, f"-{node.this.this}")
            case exp.Cast() if isinstance(node.this, exp.Literal) and node.this.is_string and node.to.is_type("date"):
                self.only(node, "this", "to")
                return str(node.this.this)
            case exp.Null():
                raise self.refuse(node, "a missing value equals nothing: use IS NULL.", "null_value")
            case exp.Column():
                raise self.refuse(node, "expected a value; texts go in single quotes, columns are not compared with each other.")
            case _:
                raise self.refuse(node, "expected a text in single quotes, a number, DATE 'YYYY-MM-DD', TRUE or FALSE.")

    def _number(self, node: exp.Expr, text: str) -> Literal:
        number = read_number(text)
        if number is None:
            raise self.refuse(node, "expected a number between -10^30 and 10^30.", "bad_number")
        return int(number) if number.denominator == 1 else Decimal(text)

    def only(self, node: exp.Expr | None, *parts: str) -> None:
        """Refuses a node that holds anything but these parts, so that nothing is silently dropped."""
        for name, value in node.args.items() if node is not None else ():
            if value not in (None, False, []) and name not in parts:
                place = value if isinstance(value, exp.Expr) else node
                raise self.refuse(place, f"{name.strip('_').upper()} is not part of a question.")

    def refuse(self, node: exp.Expr | None, reason: str, code: str = "bad_sql") -> BadInput:
        return self._place(node).refuse(reason, code)

    def _place(self, node: exp.Expr | None) -> Place:
        """Where a node stands: from its first name or value to its last; NULL has no place of its own, its parent has."""
        while node is not None:
            spans = [part.meta for part in node.walk() if "start" in part.meta]
            if spans:
                return Place.closed(self.sql, min(span["start"] for span in spans), max(span["end"] for span in spans) + 1)
            node = node.parent
        return Place(self.sql, 0, 0)

    def _located(self, node: exp.Expr, action: Callable[[], T]) -> T:
        """Does something, and says where in the SQL a refusal comes from."""
        try:
            return action()
        except BadInput as refusal:
            raise self._place(node).refuse(refusal.detail, refusal.code, refusal.operands) from refusal


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a AND b AND c …, which the parser nests to the left as deep as it is long."""
    kind, parts = type(node), []
    while type(node) is kind:
        parts.append(node.args["expression"])
        node = node.args["this"]
    return [node, *reversed(parts)]
