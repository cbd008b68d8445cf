"""Every kind of event that the product writes has a title for people; what it is called in the record stays beside it."""

import ast
from collections.abc import Iterator

from curator.models import AuditEvent
from curator.selectors.event_words import TITLES, title
from rdp_site.environment import ROOT
from tests.browser.pictured import make_pictured


def written() -> Iterator[str]:
    """The kinds that the source states where it makes an event."""
    for path in (path for part in ("curator", "accounts") for path in (ROOT / part).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name == "Event" and isinstance(node.args[0].value, str):
                    yield node.args[0].value


def test_no_event_in_the_source_is_without_a_title() -> None:
    kinds = set(written())
    assert len(kinds) > 20
    assert not kinds - set(TITLES)


def test_no_event_of_a_used_site_is_without_a_title(db: None) -> None:
    make_pictured()
    kinds = set(AuditEvent.objects.values_list("kind", flat=True))
    assert len(kinds) > 15
    assert not kinds - set(TITLES)


def test_what_has_no_title_is_called_by_its_kind() -> None:
    assert (title("query.decided"), title("thing.done")) == ("Question decided", "thing.done")
