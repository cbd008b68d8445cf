"""The words of an SQL question, checked before sqlglot's parser sees them.

Size, nesting and vocabulary are bounded here, in linear time, because the parser recurses with its input. Only the words of the
small language pass, so everything else (joins, comparisons of other kinds) is refused at its place with its reason. A word that
is a column of the schema is turned into a quoted name, so that columns called `order` or `date` need no quotes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import sqlglot
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from curator.language.conditions import MAX_DEPTH, MAX_LEAVES, too_long
from curator.language.guard import MAX_BODY
from curator.mechanism.errors import BadInput, TooLarge
from curator.mechanism.values import echo

_CORE = {
    TokenType.SELECT,
    TokenType.FROM,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.AND,
    TokenType.OR,
    TokenType.NOT,
    TokenType.IN,
    TokenType.BETWEEN,
    TokenType.IS,
    TokenType.NULL,
    TokenType.TRUE,
    TokenType.FALSE,
}
_ALLOWED = _CORE | {
    TokenType.EQ,
    TokenType.NEQ,
    TokenType.LT,
    TokenType.LTE,
    TokenType.GT,
    TokenType.GTE,
    TokenType.L_PAREN,
    TokenType.R_PAREN,
    TokenType.COMMA,
    TokenType.STAR,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.IDENTIFIER,
    TokenType.VAR,
    TokenType.DATE,
    TokenType.DASH,
    TokenType.PLUS,
    TokenType.DOT,
    TokenType.SEMICOLON,
}
# What a list of values is made of: the parser passes over it quickly, so it may be longer than conditions may.
_VALUES = {TokenType.NUMBER, TokenType.STRING, TokenType.COMMA, TokenType.DASH, TokenType.PLUS}
MAX_TOKENS = 16_000  # a list of 8,000 values
MAX_WORDS = 8 * MAX_LEAVES  # all but values: "people.age IS NOT NULL AND" has seven, brackets make it more
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS}

_FORM = "SELECT COUNT(*) FROM {table} WHERE … [GROUP BY …]"
_REASONS = {
    "DISTINCT": "counts are of distinct persons already: write COUNT(*)",
    "LIKE": "texts are compared with =, <> and IN",
    "ILIKE": "texts are compared with =, <> and IN",
    "JOIN": "a question is about one table",
    "UNION": "a question is one SELECT; combine conditions with OR",
    "ORDER BY": "bins come in the order of the domain",
    "LIMIT": "every bin is answered",
    "HAVING": "it would show which exact counts are large",
    "CASE": "write the condition with AND, OR and NOT",
    "AS": "results need no names",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of the SQL text, by offsets; `end` is past its last character."""

    sql: str
    start: int
    end: int

    @classmethod
    def closed(cls, sql: str, start: int, end: int) -> Self:
        """The piece from `start` to `end`, longer by closing brackets that it lacks."""
        while (lacking := sql.count("(", start, end) - sql.count(")", start, end)) > 0 and (found := sql.find(")", end)) >= 0:
            end = found + 1 if lacking else end
        return cls(sql, start, end)

    def refuse(self, reason: str, code: str = "bad_sql", operands: Mapping[str, object] | None = None) -> BadInput:
        """The refusal that names this place: line and column from 1, and the text that stands there."""
        line = self.sql.count("\n", 0, self.start) + 1
        column = self.start - (self.sql.rfind("\n", 0, self.start) + 1) + 1
        piece = self.sql[self.start : self.end][:60]
        near = f" near {echo(piece)}" if piece.strip() else ""
        detail = f"SQL line {line}, column {column}{near}: {reason}"
        return BadInput(code, detail, field="sql", **{**(operands or {}), "sql_line": line, "sql_column": column})


def read_tokens(sql: str, *, names: Iterable[str], table: str, of_record: bool = False) -> list[Token]:
    """The tokens of a question, names of columns quoted; refuses too long, too deep, and words the language does not have.

    `of_record`: however many there are.
    """
    if len(sql) > MAX_BODY or len(sql.encode(errors="replace")) > MAX_BODY:
        raise TooLarge("body_too_large", f"SQL has at most {MAX_BODY:,} bytes.", field="sql", maximum=MAX_BODY)
    try:
        raw = sqlglot.tokenize(sql)
    except SqlglotError as error:
        detail = "The SQL text breaks off inside a quoted text or name, or holds a character that means nothing."
        raise BadInput("bad_sql", detail, field="sql") from error
    if not raw:
        raise BadInput("empty_condition", f"Expected {_FORM.format(table=table)}.", field="sql")
    known = set(names)
    tokens = [_named(token, following, known) for token, following in zip(raw, [*raw[1:], None], strict=False)]
    _check_words(tokens, sql, table)
    _check_depth(tokens, sql)
    if not of_record:
        _check_length(tokens)
    return tokens


def _check_length(tokens: Sequence[Token]) -> None:
    """Refuses more conditions than may be: a chain of n has n - 1 AND and OR, beside those of BETWEEN."""
    kinds = Counter(token.token_type for token in tokens)
    leaves = 1 + kinds[TokenType.AND] + kinds[TokenType.OR] - kinds[TokenType.BETWEEN]
    if leaves > MAX_LEAVES:
        raise too_long("sql")
    words = len(tokens) - sum(kinds[kind] for kind in _VALUES)
    for found, most, what in ((words, MAX_WORDS, "names, signs and brackets"), (len(tokens), MAX_TOKENS, "words and signs")):
        if found > most:
            detail = f"SQL has at most {most:,} {what}, not {found:,}."
            raise TooLarge("condition_too_long", detail, field="sql", maximum=most)


def _named(token: Token, following: Token | None, names: set[str]) -> Token:
    """A column's name as a quoted name, unless it is a word of the language or is called like a function."""
    if token.token_type in _CORE or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) or token.text not in names:
        return token
    if following is not None and following.token_type in (TokenType.L_PAREN, TokenType.STRING, TokenType.DOT):
        return token
    return Token(TokenType.IDENTIFIER, token.text, token.line, token.col, token.start, token.end, [])


def _check_words(tokens: Sequence[Token], sql: str, table: str) -> None:
    for token in tokens:
        if token.token_type not in _ALLOWED:
            why = _REASONS.get(token.text.upper(), f"a question is {_FORM.format(table=table)}")
            raise Place(sql, token.start, token.end + 1).refuse(f"{echo(token.text)} is not understood here: {why}.")


def _check_depth(tokens: Sequence[Token], sql: str) -> None:
    """Brackets and prefix operators (NOT, signs) inside each other: each costs the parser a level of recursion."""
    opened: list[int] = []
    depth = run = 0
    for token in tokens:
        if token.token_type in _PREFIXES:
            run += 1
        elif token.token_type == TokenType.L_PAREN:
            opened.append(run + 1)
            depth, run = depth + run + 1, 0
        else:
            if token.token_type == TokenType.R_PAREN and opened:
                depth -= opened.pop()
            run = 0
        if depth + run > MAX_DEPTH:
            refusal = Place(sql, token.start, token.end + 1).refuse(f"brackets and NOT nest at most {MAX_DEPTH} deep.")
            raise TooLarge("too_deep", refusal.detail, field="sql", maximum=MAX_DEPTH)
