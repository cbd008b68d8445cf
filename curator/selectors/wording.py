"""Questions and accuracy targets in words, from the JSON that a query row keeps.

Columns go by their names here, as questions are written with them. The words are for reading only; what a question means is
decided by its region.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from curator.mechanism import rho
from curator.mechanism.columns import Column
from curator.selectors.formatting import spoken

Tree = Mapping[str, Any]

TESTS = {
    "equals": "is",
    "not_equals": "is not",
    "at_least": "is at least",
    "at_most": "is at most",
    "more_than": "is more than",
    "less_than": "is less than",
}
FLAGS = {"is_missing": "missing", "is_other": "outside the domain"}


def title(column: Column) -> str:
    """What people call a column: its title where it has one."""
    return column.title or column.name


def value_words(value: object) -> str:
    """A value as people read it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def listing(values: Sequence[object], last: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`."""
    texts = [value_words(value) for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def leaf_words(tree: Tree, name: str) -> str:
    """One test of one column."""
    for flag, words in FLAGS.items():
        if flag in tree:
            return f"{name} is {words}" if tree[flag] else f"{name} is not {words}"
    if "in" in tree:
        return f"{name} is {listing(tree['in'])}"
    if "between" in tree:
        low, high = tree["between"]
        return f"{name} is {low} to {high}"
    test = next(test for test in TESTS if test in tree)
    return f"{name} {TESTS[test]} {value_words(tree[test])}"


def negated_words(tree: Tree) -> str:
    """The opposite of a condition: inside the sentence for one list or range, in front of it otherwise."""
    if "in" in tree or "between" in tree:
        name = tree["column"]
        return f"{name} is not {leaf_words(tree, name).removeprefix(f'{name} is ')}"
    return f"not ({condition_words(tree)})"


def condition_words(tree: Tree) -> str:
    """A condition tree as one sentence part; alternatives inside a conjunction are put in brackets."""
    if "column" in tree:
        return leaf_words(tree, tree["column"])
    if "always" in tree:
        return "anything is so" if tree["always"] else "nothing is so"
    if "not" in tree:
        return negated_words(tree["not"])
    joint, parts = ("and", tree["all"]) if "all" in tree else ("or", tree["any"])
    return f" {joint} ".join(bracketed(part) for part in parts)


def bracketed(tree: Tree) -> str:
    """A part of a conjunction or an alternative, in brackets where it joins several itself."""
    words = condition_words(tree)
    joins = len(tree.get("all", tree.get("any", ()))) > 1
    return f"({words})" if joins else words


def question_words(question: Tree) -> str:
    """A whole question: who is counted, and by what it is split."""
    where = question.get("where")
    words = f"People where {condition_words(where)}" if where and where != {"always": True} else "Everyone"
    groups = [group_words(group) for group in question.get("group_by") or ()]
    return f"{words}, by {listing(groups, 'and')}" if groups else words


def group_words(group: Tree) -> str:
    """One grouped column."""
    if "bins" in group:
        return f"{group['column']} in {group['bins']} bins"
    return f"{group['column']} in bins" if "edges" in group else str(group["column"])


def target_words(accuracy: Mapping[str, Any]) -> str:
    """An accuracy target as asked."""
    sure = f" at {share(accuracy['confidence'])}" if "confidence" in accuracy else ""
    together = ", all bins at once" if accuracy.get("simultaneous") else ""
    if "within" in accuracy:
        return f"±{int(accuracy['within']):,}{sure}{together}"
    if "standard_error" in accuracy:
        return f"standard error {accuracy['standard_error']}"
    if "relative" in accuracy:
        return f"±{share(accuracy['relative'])} of the value{sure}"
    return f"exactly {spoken(rho.parse(accuracy['rho'], field='rho'))}"


def share(value: object) -> str:
    """A decimal share in percent."""
    percent = (Decimal(str(value)) * 100).normalize()
    return f"{percent:f}\N{NO-BREAK SPACE}%"
