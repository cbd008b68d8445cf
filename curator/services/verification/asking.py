"""Questions as they arrived: the row, its bins and their price against the event that tells of them; and their final state."""

from collections.abc import Sequence
from dataclasses import dataclass

from curator.mechanism import accuracy
from curator.mechanism.accuracy import Relative, Target
from curator.mechanism.controller import UnderScarcity
from curator.mechanism.rho import Units
from curator.models import Query, QueryBin
from curator.services.verification.chain import Entry
from curator.services.verification.difference import present, readable, require, same
from curator.services.verification.meaning import check_question
from curator.services.verification.rows import Books, Rows, place_of


@dataclass(slots=True)
class Asked:
    """One question of the chain, and how it ended so far."""

    analyst: str
    version: str
    bins: tuple[str | None, ...]
    rho_min: tuple[Units | None, ...]
    target: Target
    under_scarcity: UnderScarcity
    state: str = Query.State.WAITING


def arrive(entry: Entry, rows: Rows, books: Books) -> Asked:
    """A question's arrival: the event against its row and bins, and the price of each bin against the accuracy asked for."""
    data = entry.data
    asked = Asked(
        analyst=data["analyst"], version=data["version"], bins=tuple(data["bins"]), rho_min=tuple(data["rho_min"]),
        target=accuracy.parse_target(data["accuracy"]), under_scarcity=UnderScarcity(data["under_scarcity"]),
    )  # fmt: skip
    price = None if isinstance(asked.target, Relative) else accuracy.rho_min(asked.target, bins=len(asked.bins))
    expected = tuple(0 if digest is None else price for digest in asked.bins)
    same(entry.place, "rho_min", asked.rho_min, expected)
    query = query_of(entry, rows)
    bins = rows.bins.get(query.pk, [])
    _check_row(entry, asked, query, bins, books)
    version = books.version_of(asked.version, entry.place)
    with readable(place_of(query)):
        check_question(place_of(query), query, asked.bins, [row.label for row in bins], version)
    return asked


def query_of(entry: Entry, rows: Rows) -> Query:
    """The row of the question that an event is about."""
    found = rows.queries.get(entry.query or "")
    return present(found, entry.place, f"there is no question {entry.query} in this contract")


def _check_row(entry: Entry, asked: Asked, query: Query, bins: Sequence[QueryBin], books: Books) -> None:
    place = place_of(query)
    same(place, "analyst", books.names[query.analyst_id], asked.analyst)
    same(place, "version", books.versions[query.version_id].uid, asked.version)
    for name in ("aggregate", "question", "accuracy", "under_scarcity"):
        same(place, name, getattr(query, name), entry.data[name])
    books.account_for(query)
    same(place, "number of bins", len(bins), len(asked.bins))
    for position, row in enumerate(bins):
        _check_bin(row, position, asked, books)


def _check_bin(row: QueryBin, position: int, asked: Asked, books: Books) -> None:
    place = place_of(row)
    same(place, "position", row.position, position)
    same(place, "descriptor", row.descriptor_id, asked.bins[position])
    same(place, "rho_min", row.rho_min, asked.rho_min[position])
    require(row.descriptor_id is None or row.descriptor_id in books.descriptors, place, "its descriptor is missing")
    books.account_for(row)


def end(entry: Entry, asked: Asked, query: Query, state: str) -> None:
    """A question's final state, reached once: in the event and in its row."""
    require(asked.state == Query.State.WAITING, entry.place, f"the question was {asked.state} already")
    same(place_of(query), "state", query.state, state)
    same(place_of(query), "failure", query.failure, entry.data["code"] if state == Query.State.FAILED else "")
    asked.state = state
