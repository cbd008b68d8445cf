"""Addresses of the JSON API, version 1, with its OpenAPI document and browsable documentation."""

from django.urls import URLPattern, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from curator.api import audit, budgets, contracts, control, datasets, known, members, people, queries, steering, tokens, uploads
from curator.api.base import Nothing

app_name = "api"

V1: dict[str, type] = {
    "contracts/": contracts.Contracts,
    "contracts/preview/": contracts.Preview,
    "contracts/<uuid:uid>/": contracts.Contract,
    "contracts/<uuid:uid>/quote/": queries.Quote,
    "contracts/<uuid:uid>/queries/": queries.Queries,
    "contracts/<uuid:uid>/rehearse/": queries.Rehearse,
    "contracts/<uuid:uid>/released/": known.Released,
    "contracts/<uuid:uid>/saved/": known.Saved,
    "contracts/<uuid:uid>/releases/": contracts.Releases,
    "contracts/<uuid:uid>/comparison/": contracts.Comparison,
    "contracts/<uuid:uid>/control/": control.Control,
    "contracts/<uuid:uid>/state/": steering.State,
    "contracts/<uuid:uid>/end-date/": steering.EndDate,
    "contracts/<uuid:uid>/raise/": steering.Raise,
    "contracts/<uuid:uid>/raises/": steering.Raises,
    "raises/<uuid:uid>/approve/": steering.ApproveRaise,
    "raises/<uuid:uid>/reject/": steering.RejectRaise,
    "contracts/<uuid:uid>/members/": members.Members,
    "contracts/<uuid:uid>/members/remove/": members.Removal,
    "contracts/<uuid:uid>/allotments/": members.Allotment,
    "contracts/<uuid:uid>/invitations/": members.Invitations,
    "invitations/accept/": members.AcceptInvitation,
    "invitations/<uuid:uid>/revoke/": members.RevokeInvitation,
    "contracts/<uuid:uid>/budget-requests/": budgets.BudgetRequests,
    "budget-requests/<uuid:uid>/approve/": budgets.Approve,
    "budget-requests/<uuid:uid>/reject/": budgets.Reject,
    "queries/<uuid:uid>/": queries.OneQuery,
    "queries/<uuid:uid>/cancel/": queries.Cancel,
    "saved/<uuid:uid>/": known.OneSaved,
    "datasets/": datasets.Datasets,
    "datasets/<uuid:uid>/": datasets.Dataset,
    "datasets/<uuid:uid>/uploads/": datasets.Uploads,
    "uploads/<uuid:uid>/": uploads.OneUpload,
    "uploads/<uuid:uid>/columns/": uploads.Columns,
    "uploads/<uuid:uid>/reading/": uploads.Reading,
    "uploads/<uuid:uid>/suggestions/": uploads.Suggestions,
    "uploads/<uuid:uid>/freeze/": uploads.Freeze,
    "uploads/<uuid:uid>/discard/": uploads.Discard,
    "versions/<uuid:uid>/overlap/": uploads.Overlap,
    "contracts/<uuid:uid>/version/": uploads.Use,
    "audit/": audit.Events,
    "audit/head/": audit.Heads,
    "audit/verify/": audit.Verify,
    "people/": people.People,
    "people/<str:username>/roles/": people.Roles,
    "people/<str:username>/deactivate/": people.Deactivate,
    "people/<str:username>/reactivate/": people.Reactivate,
    "account/": people.Account,
    "notices/": people.Notices,
    "notices/seen/": people.NoticesSeen,
    "audit/verifications/<uuid:uid>/": audit.Verification,
    "audit/receipts/": audit.Receipts,
    "audit/export/": audit.Export,
    "audit/verifier/": audit.Verifier,
    "audit/balance/": audit.Balance,
    "tokens/": tokens.Tokens,
    "tokens/<int:token_id>/revoke/": tokens.Revoke,
}

urlpatterns: list[URLPattern] = [path(f"v1/{route}", view.as_view()) for route, view in V1.items()]  # type: ignore[attr-defined]  # all are APIViews
urlpatterns += [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api:schema"), name="docs"),
    re_path(r"^", Nothing.as_view()),  # last: what is left over
]
