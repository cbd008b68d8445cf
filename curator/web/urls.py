"""Addresses of the pages; `route` guards each of them."""

from curator.web.errors import route
from curator.web.views import ask as asking
from curator.web.views import (
    audit,
    budget,
    compare,
    contracts,
    control,
    datasets,
    downloads,
    home,
    people,
    queries,
    released,
    workspace,
)

urlpatterns = [
    route("", home.home, "home"),
    route("words/", home.glossary, "glossary"),
    route("contracts/new/", contracts.new, "contract-new"),
    route("contracts/<uuid:uid>/", workspace.workspace, "workspace"),
    route("contracts/<uuid:uid>/ask/", asking.ask, "ask"),
    route("contracts/<uuid:uid>/quote/", asking.quote, "quote"),
    route("contracts/<uuid:uid>/released/", released.released_answers, "released"),
    route("contracts/<uuid:uid>/compare/", compare.compare, "compare"),
    route("contracts/<uuid:uid>/budget/", budget.mine, "budget"),
    route("contracts/<uuid:uid>/control/", control.control, "control"),
    route("contracts/<uuid:uid>/people/", people.people, "people"),
    route("contracts/<uuid:uid>/requests/", budget.requests, "requests"),
    route("contracts/<uuid:uid>/requests/<uuid:request_uid>/", budget.decide, "request-decide"),
    route("queries/<uuid:uid>/", queries.query, "query"),
    route("queries/<uuid:uid>/status/", queries.status, "query-status"),
    route("queries/<uuid:uid>/cancel/", queries.cancel, "query-cancel"),
    route("queries/<uuid:uid>/download.csv", downloads.csv_file, "query-csv"),
    route("queries/<uuid:uid>/download.json", downloads.json_file, "query-json"),
    route("datasets/", datasets.datasets, "datasets"),
    route("datasets/new/", datasets.new, "dataset-new"),
    route("datasets/<uuid:uid>/", datasets.dataset, "dataset"),
    route("datasets/<uuid:uid>/versions/new/", datasets.new_version, "version-new"),
    route("audit/", audit.log, "audit"),
    route("audit/verify/", audit.verify, "audit-verify"),
    route("audit/<str:chain>/<int:seq>/", audit.event, "audit-event"),
]
