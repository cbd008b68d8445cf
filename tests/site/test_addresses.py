"""Failed sign-ins are counted by address: a guesser cannot make one up, and behind a proxy not everybody shares one."""

import pytest
from django.test import RequestFactory, override_settings

from rdp_site.addresses import client_address


@pytest.mark.parametrize(
    ("behind_proxy", "forwarded", "expected"),
    [
        (False, None, "192.0.2.1"),
        (False, "203.0.113.9", "192.0.2.1"),
        (True, None, "192.0.2.1"),
        (True, "203.0.113.9", "203.0.113.9"),
        (True, "10.9.8.7, made-up, 203.0.113.9", "203.0.113.9"),
    ],
)
def test_the_address_is_the_one_somebody_of_ours_saw(
    behind_proxy: bool, forwarded: str | None, expected: str, rf: RequestFactory
) -> None:
    headers = {"x-forwarded-for": forwarded} if forwarded else {}
    with override_settings(BEHIND_PROXY=behind_proxy):
        assert client_address(rf.get("/", headers=headers, REMOTE_ADDR="192.0.2.1")) == expected
