"""What the OpenAPI document says of itself: an introduction with one whole example, and calls in groups by what one wants."""

import re
from typing import Any

INTRODUCTION = """
Whatever the pages do, for programs. [Back to the site](/).

Make a key on the page *Keys for programs* (`/account/keys/`), shown once, and send it as `Authorization: Bearer KEY`.
Asking looks like this:

```
POST /api/v1/contracts/CONTRACT/queries/
Authorization: Bearer KEY
Content-Type: application/json
Idempotency-Key: plan-1

{"sql": "SELECT COUNT(*) FROM people WHERE age >= 40", "accuracy": {"within": 25, "confidence": 0.95}}
```

The answer, 202, has an `id`; `GET /api/v1/queries/ID/` says `waiting` until it is `answered`, `partial`,
`declined`, `failed` or `cancelled`.
`POST …/quote/` with the same body prices a question and spends nothing. Sending the same key and body again never asks twice.

Names: `rho_min` is what pages call *needed from scratch*, `rho_hist` what is *already known* (credit), `rho_new` what is
*left to pay*, `available` what could be spent now, `baseline` what budget partitioning would charge. Amounts are decimal
strings of rho.
Errors are `{"code", "detail", "field"}`. Long lists come in pages: `next` is the mark to send as `before` or
`after`, whichever the call takes.
"""

ACCOUNT = r"\w+ (session|tokens|password|account|notices|invitations/(accept|join|look))"
ASKING = (
    r"\w+ (queries|saved)|get contracts/(\{uid\}/)?$"
    r"|\w+ contracts/\{uid\}/(quote|queries|rehearse|released|releases|saved|comparison|budget-requests/$)"
)

#: Groups in their order: a title, whom it is for, and what calls, as "get contracts/", belong to it. The first that fits counts.
GROUPS = (
    ("Signing in and one's account", "for everybody: session, keys, password, notices", ACCOUNT),
    ("Asking", "for analysts", ASKING),
    ("Laboratory", "for curators and auditors", r"\w+ (contracts/\{uid\}/)?experiments"),
    ("Auditing", "for readers of the record", r"\w+ audit"),
    ("Data", "for curators: files and versions", r"\w+ (datasets|uploads|versions)"),
    ("Contracts and people", "for curators", ""),
)


def grouped(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Give every call its group and its first sentence as a title: a hook of drf-spectacular over the finished document."""
    for address, calls in result["paths"].items():
        for method, call in calls.items():
            name = f"{method} {address.removeprefix('/api/v1/')}"
            call.setdefault("summary", call.get("description", "").partition(". ")[0].strip(" ."))
            call["tags"] = [next(title for title, _, pattern in GROUPS if re.match(pattern, name))]
    result["tags"] = [{"name": title, "description": words} for title, words, _ in GROUPS]
    return result


SETTINGS = {
    "TITLE": "Residual",
    "DESCRIPTION": INTRODUCTION,
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "rdp_site.openapi.grouped"],
    "ENUM_NAME_OVERRIDES": {
        "QueryState": "curator.models.queries.Query.State",
        "RequestState": "curator.models.contracts.BudgetRequest.State",
        "ExperimentState": "curator.models.experiments.Experiment.State",
    },
}
