"""Every decision follows from the public record: a process that has no data to look at makes all of them again."""

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from curator import queue
from curator.models import Decision
from curator.services import deciding, standing
from curator.services.standing import CLOSED
from curator.services.verification import verify
from tests.fixtures.figures import Figure
from tests.record.story import OVER_40, WOMEN, amount, begin, busy_week
from tests.site.commands import python

# An interpreter that cannot open a dataset version, nor load what could: any attempt ends it.
BLIND = """
import sys
from pathlib import Path

folders = [Path(name) for name in {folders!r}]

def refuse(event, args):
    if event == "open" and isinstance(args[0], str) and any(folder in Path(args[0]).absolute().parents for folder in folders):
        raise SystemExit("it opened " + args[0])
    if event == "import" and args[0].startswith("curator.engine"):
        raise SystemExit("it loaded " + args[0])

sys.addaudithook(refuse)
import django
django.setup()
from django.core.management import call_command
call_command("verify")
assert not [name for name in sys.modules if name.startswith(("curator.engine", "ibis"))]
"""


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_send", lambda task, row_id: None)


@pytest.mark.trust
def test_all_of_a_busy_week_is_verified_without_a_data_handle(
    db: None, database_env: dict[str, str], tmp_path: Path, figure: Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "VERSIONS_DIR", tmp_path / "versions")
    busy_week()
    kinds = set(Decision.objects.values_list("kind", flat=True))
    assert kinds == {"reuse", "measure", "partial", "decline"}
    assert list((tmp_path / "versions").glob("*.parquet"))
    (tmp_path / "versions").rename(tmp_path / "elsewhere")
    folders = [str(tmp_path / name) for name in ("versions", "elsewhere", "var/versions")] + [str(settings.UPLOADS_DIR)]
    said = python(BLIND.format(folders=folders), env=database_env | {"RDP_VAR": str(tmp_path / "var")})
    found = {table: int(number) for number, table in re.findall(r"(\d+) (\w+)", said)}
    assert "consistent" in said and found["decision"] == Decision.objects.count()
    figure(row=5, n=found["decision"], seen=f"equal for 100 % (with {found['release']} releases, {found['answer']} answers)")


def test_the_blind_process_would_be_noticed_looking(database_env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "version.parquet").write_bytes(b"")
    code = BLIND.format(folders=[str(tmp_path)])
    for attempt in (f"open({str(tmp_path / 'version.parquet')!r})", "import curator.engine.counts"):
        with pytest.raises(AssertionError, match=r"it opened|it loaded"):
            python(code + attempt, env=database_env)


def _dearer(real: Callable[..., int | None]) -> Callable[..., int | None]:
    return lambda *args: (real(*args) or 0) + 7


def _heavier(real: Callable[..., Decimal]) -> Callable[..., Decimal]:
    return lambda *args: real(*args) + Decimal("0.5")


def _stingier(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, analyst_id, *, bins: (CLOSED,) * bins


def _shifted(real: Callable[..., None]) -> Callable[..., None]:
    return lambda self, uid, *, rho, value: real(self, uid, rho=rho, value=value + 1)


@pytest.mark.trust
@pytest.mark.parametrize(
    ("words", "owner", "name", "wrong"),
    [
        ("charge", deciding, "price", _dearer),
        ("weight", deciding, "_weight", _heavier),
        ("refusal", standing.Standing, "limits", _stingier),
        ("fusion", standing.Credit, "add", _shifted),
    ],
)
def test_what_does_not_follow_from_the_record_is_found(
    db: None, words: str, owner: object, name: str, wrong: Callable[[Any], Any], figure: Figure
) -> None:
    """Each as if the worker had looked at something else than the record."""
    story = begin(rho_total="1", xi="0.5", kappa="0.01", rho_d=amount("0.05"), allotments={"alice": "0.05"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, wrong(getattr(owner, name)))
        story.ask(story.people.bob, OVER_40, {"within": 20})
        story.ask(story.people.alice, WOMEN, {"rho": "0.2"})
    report = verify([story.contract])
    assert not report.ok
    figure(row=5, n=Decision.objects.count(), mutant=f"a {words} that does not follow from the record: caught")
