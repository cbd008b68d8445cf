"""What somebody may do so and so often: counted for all processes together, and let in again after a while."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client, override_settings
from django.utils import timezone

from accounts import throttles, tokens
from accounts.models import Throttle, User
from curator.mechanism.errors import TooMany
from tests.cast import Cast, cast
from tests.web.scene import browser_of

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def people(db: None) -> Cast:
    return cast()


def tries(number: int, allowed: str = "3/hour", who: str = "alice") -> list[int]:
    """The waits of that many tries one after the other, 0 where one was let in."""
    waits = []
    for _ in range(number):
        try:
            throttles.check("try", who, allowed)
            waits.append(0)
        except TooMany as refused:
            assert refused.code == "too_many_requests"
            waits.append(int(str(refused.operands["wait"])))
    return waits


def later(by: timedelta) -> None:
    Throttle.objects.update(full_at=F("full_at") - by)


def test_the_fourth_of_three_an_hour_waits_for_one_step() -> None:
    assert tries(4)[:3] == [0, 0, 0]
    assert 1_190 <= tries(1)[0] <= 1_200
    assert tries(1, who="bob") == [0]
    later(timedelta(minutes=20))
    assert [wait > 0 for wait in tries(2)] == [False, True]
    later(timedelta(hours=2))
    assert [wait > 0 for wait in tries(4)] == [False, False, False, True]


def test_sixteen_at_once_are_let_in_no_more_often() -> None:
    start = threading.Barrier(16)

    def work(_: int) -> int:
        start.wait()
        try:
            return tries(4, "10/day").count(0)
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(work, range(16))) == 10


@pytest.mark.parametrize("text", ["", "0/minute", "5", "5/week", "-1/hour", "5/minute ", "1e3/minute"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="expected a rate"):
        throttles.rate(text)


def test_rows_that_say_nothing_any_more_are_forgotten() -> None:
    tries(1)
    tries(1, who="bob")
    Throttle.objects.filter(key="try:bob").update(full_at=timezone.now() - timedelta(seconds=1))
    throttles.forget_full()
    assert list(Throttle.objects.values_list("key", flat=True)) == ["try:alice"]


def get(secret: str, path: str = "contracts/", address: str = "192.0.2.1") -> tuple[int, str, str | None]:
    answer = Client().get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {secret}"}, REMOTE_ADDR=address)
    code = json.loads(answer.content)["code"] if answer.status_code != 200 else ""
    return answer.status_code, code, answer.headers.get("Retry-After")


@override_settings(API_RATE="3/hour")
def test_all_keys_and_the_session_of_a_person_count_together(people: Cast) -> None:
    first, second = (tokens.issue(user=people.alice, name=name, scope="read", days=1)[1] for name in ("one", "two"))
    assert [get(first)[0], get(second)[0]] == [200, 200]
    assert browser_of(people.alice).get("/api/v1/contracts/").status_code == 200
    status, code, wait = get(first)
    assert (status, code) == (429, "too_many_requests")
    assert wait is not None
    assert 1 <= int(wait) <= 1_200
    assert browser_of(people.alice).get("/api/v1/contracts/").status_code == 429
    assert browser_of(people.bob).get("/api/v1/contracts/").status_code == 200


@override_settings(API_ANONYMOUS_RATE="2/hour")
def test_whoever_has_no_good_key_counts_by_address(people: Cast) -> None:
    assert [get("rdp_wrong")[:2] for _ in range(3)] == [(401, "not_signed_in")] * 2 + [(429, "too_many_requests")]
    assert get("rdp_wrong", address="192.0.2.2")[0] == 401
    headers = {"X-Forwarded-For": "198.51.100.7"}  # written by the client itself: no proxy of ours stands before us
    assert Client().get("/api/v1/contracts/", headers=headers, REMOTE_ADDR="192.0.2.1").status_code == 429
    good = tokens.issue(user=people.alice, name="one", scope="read", days=1)[1]
    assert get(good)[0] == 200  # from the same address


def test_a_name_in_a_header_of_a_proxy_signs_nobody_in(people: Cast) -> None:
    for name in ("X-Forwarded-User", "X-Remote-User", "Remote-User", "X-Forwarded-Email"):
        assert Client().get("/api/v1/contracts/", headers={name: "alice"}).status_code == 401
        assert Client().get("/", headers={name: "alice"}).status_code == 302
        assert Client().get("/", REMOTE_USER="alice").status_code == 302
    assert User.objects.filter(last_login__isnull=False).count() == 0
