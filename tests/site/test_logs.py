"""What the log says of a request, and what it never does."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django_guid import set_guid

from rdp_site.logs import PlainFormatter, StructuredFormatter


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, logger="rdp_site.requests"):
        yield caplog


def record(message: str, *args: object) -> logging.LogRecord:
    made = logging.LogRecord("rdp_site.test", logging.INFO, __file__, 1, message, args, None)
    made.correlation_id = "abc"
    return made


def test_a_request_is_one_line_without_its_arguments(db: None, client: Client, lines: pytest.LogCaptureFixture) -> None:
    answer = client.get("/sign-in/?next=/SECRET42/", headers={"cookie": "sessionid=SECRET43"})
    [line] = lines.records
    assert line.getMessage() == "GET sign-in/ 200"
    text = StructuredFormatter().format(line)
    assert "SECRET" not in text + PlainFormatter("{message}", style="{").format(line)
    said = json.loads(text)
    assert {"at", "level", "logger", "message", "method", "route", "status", "milliseconds", "person"} <= set(said)
    assert answer.headers["X-Request-ID"]


def test_an_address_that_nobody_has_is_not_repeated(db: None, client: Client, lines: pytest.LogCaptureFixture) -> None:
    client.get("/SECRET44/")
    assert [line.getMessage() for line in lines.records] == ["GET (none) 404"]


@pytest.mark.parametrize("given", ["not an id", "x\nINFO forged", "a" * 5000, ""])
def test_only_an_id_is_taken_over_from_the_outside(given: str, db: None, client: Client) -> None:
    taken = client.get("/sign-in/", headers={"X-Request-ID": given.replace("\n", "%0a")}).headers["X-Request-ID"]
    assert taken != given
    assert len(taken) == 32


def test_the_id_of_a_request_is_in_its_answer(db: None, client: Client) -> None:
    ours = "0123456789abcdef0123456789abcdef"
    assert client.get("/health/live", headers={"X-Request-ID": ours}).headers["X-Request-ID"] == ours


@pytest.mark.parametrize("name", ["x\nINFO ok", "a\r\nb", "\x1b[31mred", "tab\there", "\u2028line", "smile 🙂"])
def test_no_text_begins_a_line_of_its_own(name: str) -> None:
    plain = PlainFormatter("{levelname} [{correlation_id}] {message}", style="{").format(record("name %s", name))
    structured = StructuredFormatter().format(record("name %s", name))
    assert len(plain.splitlines()) == len(structured.splitlines()) == 1
    assert not any(ord(letter) < 32 for letter in plain)
    assert json.loads(structured)["message"] == f"name {name}"


def test_a_traceback_stays_behind_the_margin() -> None:
    try:
        raise ValueError("one\nINFO forged")
    except ValueError as error:
        made = record("broken")
        made.exc_info = (type(error), error, error.__traceback__)
    lines = PlainFormatter("{message}", style="{").format(made).splitlines()
    assert lines[0] == "broken"
    assert all(line.startswith("    ") for line in lines[1:])


def test_the_settings_use_these_forms_and_the_id() -> None:
    set_guid("f" * 32)
    logging_settings: dict[str, Any] = settings.LOGGING
    assert logging_settings["handlers"]["console"]["filters"] == ["correlation_id", "without_paths"]
    forms = {form["()"] for form in logging_settings["formatters"].values()}
    assert forms == {"rdp_site.logs.PlainFormatter", "rdp_site.logs.StructuredFormatter"}
