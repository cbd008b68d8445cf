"""A new contract and a draft of one, with a preview in words of what it buys."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.models import Role
from curator.mechanism import accounting
from curator.mechanism.accounting import split
from curator.mechanism.errors import Refused
from curator.mechanism.rho import Units
from curator.models import Contract, DatasetVersion
from curator.refusals import status_of
from curator.selectors import purchases
from curator.selectors.settings_words import Weighing, meaning, strictness, warnings
from curator.services import contract_rows, contracts
from curator.services.contract_settings import DIAGNOSTIC_SHARE
from curator.web.forms.contracts import ContractForm, as_typed
from curator.web.pages import add_refusal, page, reader
from curator.web.views.ask import see_other


@dataclass(frozen=True, slots=True)
class Preview:
    """What a total is good for."""

    rho_total: Units
    rho_ans: Units
    rho_est: Units
    delta: Decimal
    buys: tuple[str, ...]
    meaning: tuple[str, ...]
    strictness: str
    warnings: tuple[str, ...]


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The form; its buttons open the contract, keep it as a draft, or only preview it."""
    user = access.require_site_role(reader(request), Role.CURATOR)
    versions = list(DatasetVersion.objects.filter(dataset__owner=user).select_related("dataset").order_by("-id"))
    if request.method != "POST":
        first = {"version": request.GET.get("version", "")}
        return _show(request, ContractForm(initial=first, versions=versions), 200)
    form = ContractForm(request.POST, versions=versions)
    if not _is_meant(request, form):
        return _show(request, form, 200 if request.POST.get("do") == "preview" else 400)
    version = access.version_for(user, form.cleaned_data["version"])
    try:
        made = _make(request, form, version)
    except Refused as refused:
        add_refusal(form, refused)
        return _show(request, form, status_of(refused))
    return see_other("people" if made.state == Contract.State.OPEN else "control", made.uid)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The same form for a draft; its buttons keep the changes, with or without opening it."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.CURATOR)
    contract_rows.check_state(contract, Contract.State.DRAFT)
    offered = contract.dataset.versions.select_related("dataset").order_by("-id")
    versions = list(offered if contract.dataset.owner_id == user.pk else offered.filter(pk=contract.version_id))
    if request.method != "POST":
        return _show(request, ContractForm(initial=as_typed(contract), versions=versions), 200, draft=contract)
    form = ContractForm(request.POST, versions=versions)
    if not _is_meant(request, form):
        return _show(request, form, 200 if request.POST.get("do") == "preview" else 400, draft=contract)
    try:
        chosen = form.cleaned_data["version"]
        version = contract.version if chosen == str(contract.version.uid) else access.version_for(user, chosen)
        _change(request, form, contract, version)
    except Refused as refused:
        add_refusal(form, refused)
        return _show(request, form, status_of(refused), draft=contract)
    return see_other("control", contract.uid)


def _is_meant(request: HttpRequest, form: ContractForm) -> bool:
    """Whether the form is to be kept: it can be read, and who opens for good has said that they know it."""
    do = request.POST.get("do")
    if form.is_valid() and do == "open" and not form.cleaned_data["stands"]:
        form.add_error("stands", "Tick this to open it, or keep it as a draft.")
    return form.is_valid() and do in ("open", "draft")


def _change(request: HttpRequest, form: ContractForm, contract: Contract, version: DatasetVersion) -> None:
    user = reader(request)
    name, chosen = form.cleaned_data["name"], form.chosen()
    with transaction.atomic():
        changed = contracts.change_draft(curator=user, contract=contract, version=version, name=name, **chosen)
        if request.POST["do"] == "open":
            contracts.open_draft(curator=user, contract=changed, stands=form.cleaned_data["stands"])
    opened = request.POST["do"] == "open"
    messages.success(request, "The contract is open. Add the people who may ask." if opened else "The draft is changed.")


def _make(request: HttpRequest, form: ContractForm, version: DatasetVersion) -> Contract:
    data, chosen = form.cleaned_data, form.chosen()
    if request.POST["do"] == "open":
        made = contracts.open_contract(
            curator=reader(request), version=version, name=data["name"], stands=data["stands"], **chosen
        )
    else:
        made = contracts.draft(curator=reader(request), version=version, name=data["name"], **chosen)
    opened = made.state == Contract.State.OPEN
    messages.success(request, "The contract is open. Add the people who may ask." if opened else "Kept as a draft.")
    return made


def _show(request: HttpRequest, form: ContractForm, status: int, *, draft: Contract | None = None) -> HttpResponse:
    typed = form if draft is None or form.is_bound else ContractForm(as_typed(draft), versions=[draft.version])
    return page(request, "contract/new.html", status=status, form=form, preview=preview(typed), draft=draft)


def preview(form: ContractForm) -> Preview | None:
    """What the amounts in the form mean, as far as they can be read."""
    if not form.is_bound:
        return None
    form.is_valid()
    total, xi, delta = (form.cleaned_data.get(name) for name in ("rho_total", "xi", "delta"))
    if not total or xi is None or delta is None or not 0 <= xi < 1 or not 0 < delta < 1:
        return None
    rho_est, rho_ans = split(total, xi)
    buys = tuple(purchases.buys(rho_ans, bound=bound) for bound in purchases.TOLD)
    said = strictness(accounting.epsilon(total, delta))
    return Preview(
        total, rho_ans, rho_est, delta, buys, _meaning(form, rho_ans, rho_est), said, _warnings(form, rho_ans, rho_est)
    )


def _warnings(form: ContractForm, rho_ans: Units, rho_est: Units) -> tuple[str, ...]:
    return warnings(rho_ans=rho_ans, rho_est=rho_est, rho_d=_rho_d(form, rho_est))


def _rho_d(form: ContractForm, rho_est: Units) -> Units:
    return form.cleaned_data.get("rho_d") or max(1, rho_est // DIAGNOSTIC_SHARE)


def _meaning(form: ContractForm, rho_ans: Units, rho_est: Units) -> tuple[str, ...]:
    """Diagnostics and scarcity in words; nothing while one of their boxes cannot be read."""
    kappa, alpha, beta = (form.cleaned_data.get(name) for name in ("kappa", "alpha", "beta"))
    if kappa is None or alpha is None or beta is None or min(kappa, alpha, beta) < 0 or "rho_d" in form.errors:
        return ()
    return meaning(Weighing(rho_ans, rho_est, _rho_d(form, rho_est), kappa, alpha, beta))
