"""What arrives from outside, made safe to look at: size and nesting are bounded before a byte is parsed.

Numbers stay exact (`Decimal`), and what is no number (NaN, Infinity, 1e400), half a surrogate pair and the character NUL, which
no table can keep, are refused with the place where they stand.
"""

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from curator.mechanism.errors import BadInput, TooLarge
from curator.mechanism.values import echo, harmless, read_number

MAX_BODY = 64 * 1024
MAX_JSON_DEPTH = 80


def guard_text(body: bytes, *, most: int = MAX_BODY) -> object:
    """The value of a JSON body; refuses one over `most` bytes, nested too deep, not JSON, or with what nothing can hold."""
    if len(body) > most:
        raise TooLarge("body_too_large", f"A request has at most {most:,} bytes, not {len(body):,}.", maximum=most)
    _check_depth(body)
    try:
        value: object = json.loads(
            body.decode(), parse_float=_number, parse_int=_number, parse_constant=Decimal, object_pairs_hook=_object
        )
    except UnicodeDecodeError as error:
        raise BadInput("bad_json", f"The body is not UTF-8: byte {error.start}.") from error
    except json.JSONDecodeError as error:
        raise BadInput("bad_json", f"The body is not JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from error
    _check_values(value)
    return value


def _check_depth(body: bytes) -> None:
    """Counts brackets outside texts; a bracket inside a text would need a quote before it, which the scan follows."""
    depth, inside, place = 0, False, 0
    while place < len(body):
        byte = body[place]
        if inside:
            place += byte == 0x5C  # a backslash: skip what it escapes
            inside = byte != 0x22
        elif byte == 0x22:
            inside = True
        elif byte in b"[{":
            depth += 1
            if depth > MAX_JSON_DEPTH:
                raise TooLarge("too_deep", f"A body nests at most {MAX_JSON_DEPTH} deep.", maximum=MAX_JSON_DEPTH)
        elif byte in b"]}":
            depth -= 1
        place += 1


def _number(text: str) -> int | Decimal:
    """An exact number; too long or too large ones become infinite, to be refused with their place."""
    if len(text) > 100:
        return Decimal("Infinity")
    try:
        return int(text) if text.lstrip("-").isdigit() else Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise BadInput("bad_json", f"The name {echo(double)} stands twice in one object.", field=harmless(double))
    return result


def _check_values(value: object) -> None:
    for path, part in _walk(value):
        if isinstance(part, Decimal | int) and not isinstance(part, bool) and read_number(part) is None:
            raise BadInput("bad_number", "Expected a number between -10^30 and 10^30.", field=path or None)
        if isinstance(part, str) and any(char == "\0" or "\ud800" <= char <= "\udfff" for char in part):
            detail = "A text holds a character that cannot be kept (NUL or half a surrogate pair)."
            raise BadInput("bad_text", detail, field=path or None)


def _walk(value: object) -> Iterator[tuple[str, object]]:
    """Every value and every name with its path, such as "accuracy.within"."""
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        path, part = stack.pop()
        yield path, part
        if isinstance(part, dict):
            for name, item in part.items():
                yield path, name
                stack.append((f"{path}.{harmless(name)}".removeprefix(".")[:200], item))
        elif isinstance(part, list):
            stack.extend((f"{path}[{place}]", item) for place, item in enumerate(part))
