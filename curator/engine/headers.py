"""The header of a table: names in the order of the file, normalised as everywhere, and found again by the schema's names.

Header names are the curator's own words and public once in a schema, so refusals may quote them; cells are never quoted.
"""

from collections import defaultdict
from collections.abc import Sequence

from curator.mechanism.errors import Refused, TooLarge
from curator.mechanism.values import echo, hint, normalise

MAX_COLUMNS = 5_000


def tidy(names: Sequence[str]) -> tuple[str, ...]:
    """The names after the one trim rule; refuses too many, blank and repeated ones with their positions (from 1)."""
    if len(names) > MAX_COLUMNS:
        raise TooLarge(
            "too_many_columns", f"The file has {len(names):,} columns; at most {MAX_COLUMNS:,} can be read.", maximum=MAX_COLUMNS
        )
    if not names:
        raise Refused("no_columns", "The file has no column: expected at least one.")
    header = tuple(normalise(name) for name in names)
    faults = _faults(header)
    if faults:
        shown = "; ".join(faults[:5]) + ("; …" if len(faults) > 5 else "")
        raise Refused("bad_header", f"Every column needs a name of its own: {shown}.", faults=len(faults))
    return header


def _faults(header: tuple[str, ...]) -> list[str]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(header, start=1):
        places[name].append(place)
    faults = [f"no name at position {_listed(places.pop(''))}"] if "" in places else []
    return faults + [f"{echo(name)} stands at positions {_listed(found)}" for name, found in places.items() if len(found) > 1]


def _listed(places: list[int]) -> str:
    return ", ".join(map(str, places[:10])) + (", …" if len(places) > 10 else "")


def find(header: tuple[str, ...], wanted: Sequence[str]) -> tuple[int, ...]:
    """Where the wanted names stand (from 0); refuses the first that is absent and suggests the one that was probably meant."""
    places = {name: place for place, name in enumerate(header)}
    for name in wanted:
        if name not in places:
            raise Refused("column_not_in_file", f"The file has no column {echo(name)}.{hint(name, header)}", column=name)
    return tuple(places[name] for name in wanted)
