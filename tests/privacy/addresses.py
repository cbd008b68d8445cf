"""Every address of the site, from the resolver, filled in with what there is to look at.

An address is visited, or it only takes what is written (WRITES), or it is left out with its reason (LEFT_OUT): a new one that is
none of these fails the test that walks through them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from django.urls import URLPattern, URLResolver, get_resolver

#: A noun of the address with the parameters that follow it: "contracts/<uuid:uid>", "audit/<str:chain>/<int:seq>".
FILLED = re.compile(r"(\w+)/<[^>]+>(?:/<[^>]+>)*")
Values = Mapping[str, Sequence[object]]  # by noun, what can stand behind it

LEFT_OUT = {"api/^": "whatever is left over: nothing lives there"}
#: Nothing is to be seen there; what they change is seen at the others.
WRITES = {
    "sign-out/", "account/keys/<int:token_id>/revoke/", "notices/seen/", "contracts/<uuid:uid>/requests/<uuid:request_uid>/",
    "queries/<uuid:uid>/cancel/", "queries/<uuid:uid>/save/",
    "api/v1/contracts/<uuid:uid>/state/", "api/v1/contracts/<uuid:uid>/end-date/", "api/v1/contracts/<uuid:uid>/raise/",
    "api/v1/raises/<uuid:uid>/approve/", "api/v1/raises/<uuid:uid>/reject/", "api/v1/contracts/<uuid:uid>/members/remove/",
    "api/v1/invitations/accept/", "api/v1/invitations/<uuid:uid>/revoke/",
    "api/v1/budget-requests/<uuid:uid>/approve/", "api/v1/budget-requests/<uuid:uid>/reject/",
    "api/v1/queries/<uuid:uid>/save/", "api/v1/queries/<uuid:uid>/cancel/", "api/v1/datasets/<uuid:uid>/uploads/",
    "api/v1/uploads/<uuid:uid>/columns/<int:place>/",
    "api/v1/uploads/<uuid:uid>/reading/", "api/v1/uploads/<uuid:uid>/suggestions/", "api/v1/uploads/<uuid:uid>/freeze/",
    "api/v1/uploads/<uuid:uid>/discard/", "api/v1/versions/<uuid:uid>/overlap/", "api/v1/contracts/<uuid:uid>/version/",
    "api/v1/audit/verify/", "api/v1/people/<str:username>/roles/", "api/v1/people/<str:username>/deactivate/",
    "api/v1/people/<str:username>/reactivate/", "api/v1/notices/seen/", "api/v1/tokens/<int:token_id>/revoke/",
    "api/v1/experiments/<uuid:uid>/again/", "api/v1/invitations/join/", "api/v1/account/password/", "api/v1/session/",
    "api/v1/session/end/", "api/v1/password/forgotten/", "api/v1/password/new/",
}  # fmt: skip
_ASKED = {"where": {"column": "sex", "equals": "M"}, "accuracy": {"within": 3}}
#: What is asked where an answer is to be seen without anything being written.
POSTED: Mapping[str, object] = {
    "contracts/<uuid:uid>/quote/": None, "api/v1/contracts/<uuid:uid>/quote/": _ASKED, "api/v1/contracts/preview/": {},
    "api/v1/contracts/<uuid:uid>/rehearse/": {**_ASKED, "draws": 10}, "api/v1/invitations/look/": {"secret": "over"},
}  # fmt: skip
#: What an address may be asked for beyond itself; {c} stands for a contract or a chain.
MORE = {
    "audit/": ["?chain={c}", "?chain=site"], "audit/record.ndjson": ["?chain={c}", "?chain=site"],
    "audit/balance/<uuid:uid>/": ["?analyst=alice"], "contracts/<uuid:uid>/compare/": ["?whose=all"],
    "contracts/<uuid:uid>/released/": ["?within=1000"], "api/v1/audit/": ["?chain={c}", "?chain=site"],
    "api/v1/audit/export/": ["?chain={c}", "?chain=site"], "api/v1/audit/balance/": ["?contract={c}"],
    "api/v1/contracts/<uuid:uid>/comparison/": ["?whose=all"],
}  # fmt: skip


def routes() -> list[str]:
    """All routes, as they are written."""
    return list(_walk(get_resolver().url_patterns, ""))


def _walk(patterns: Sequence[URLPattern | URLResolver], before: str) -> Iterator[str]:
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _walk(each.url_patterns, route)
        else:
            yield route


def filled(route: str, values: Values) -> list[str]:
    """The addresses of one route, about everything that it can be about. KeyError for a noun that nothing is known for."""
    nouns = FILLED.findall(route)
    pieces = FILLED.split(route)[::2]
    found = []
    for chosen in product(*(values[noun] for noun in nouns)):
        words = [f"{noun}/{value}" for noun, value in zip(nouns, chosen, strict=True)]
        found.append("/" + "".join(a + b for a, b in zip(pieces, [*words, ""], strict=True)))
    more = [more.format(c=values["contracts"][0]) for more in MORE.get(route, [])]
    return [*found, *(address + words for address in found for words in more)]


def looked_at(values: Values) -> dict[str, list[str]]:
    """The addresses of every route at which something is to be seen, by route."""
    return {route: filled(route, values) for route in routes() if route not in WRITES and route not in LEFT_OUT}
