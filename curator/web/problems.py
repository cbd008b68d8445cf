"""What is wrong with a form, told beside the control it is about and once more on top of the page."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`field`: the part of the form; `anchor`: the id to jump to (may be empty); `text`: what was wrong and what was expected."""

    field: str
    anchor: str
    text: str
