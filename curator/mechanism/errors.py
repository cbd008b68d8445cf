"""Refusals: a request that cannot be served, with a stable code, a sentence and its operands.

A refusal happens before anything is charged, read or stored. `detail` says what was wrong, what was expected and where, from the
request and the public schema alone: it never carries a private value. Each edge turns the class into an HTTP status in one table.

What is `private` is told to whoever asked, and to nobody else: that it was refused at all depends on what a file holds.
"""


class Refused(Exception):
    """A request that cannot be served; nothing was charged, read or stored.

    `code` is stable snake_case for programs, `detail` a sentence for people, `field` the place in the request ("accuracy.within",
    "columns[3].low") where there is one, `operands` the figures that the sentence speaks of. `private`: records, or the header of
    a file, decided it, so it is neither counted nor on the record.
    """

    def __init__(self, code: str, detail: str, *, field: str | None = None, private: object = False, **operands: object) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.field = field
        self.private = bool(private)  # not annotated so: callers that hand on operands would not fit
        self.operands = operands

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


class BadInput(Refused):
    """The request says something that is not allowed or not understood."""


class Conflict(Refused):
    """The request contradicts what is already there: a key used before, a contract that is not open."""


class NotYours(Refused):
    """Missing, or somebody else's: the two are told apart by nobody."""


class TooLarge(Refused):
    """The request is well formed but larger than a stated maximum."""


class TooMany(Refused):
    """Too many requests in a short time, or too many waiting."""
