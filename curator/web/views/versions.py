"""A frozen version: ask under a contract from now on, or say what it shares with another."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.models import Role, User
from curator.mechanism.errors import Refused
from curator.models import DatasetVersion
from curator.refusals import status_of
from curator.selectors.datasets import version_line
from curator.services import contracts, datasets
from curator.web.forms.datasets import OverlapForm, UseForm
from curator.web.pages import add_refusal, page, reader
from curator.web.views.ask import see_other


def _own(user: User, uid: UUID) -> DatasetVersion:
    """A version of a dataset that this curator looks after: curating a contract about it is not enough here."""
    version = access.version_for(user, uid)
    access.dataset_for(user, version.dataset.uid)
    return version


@require_http_methods(["GET", "HEAD", "POST"])
def use(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Ask under an existing contract about this version from now on."""
    user = reader(request)
    version = _own(user, uid)
    live = access.contracts_of(user, Role.CURATOR).filter(dataset=version.dataset, state__in=("open", "frozen"))
    others = list(live.exclude(version=version).order_by("-id"))
    form = UseForm(request.POST or None, contracts=others, initial={"contract": request.GET.get("contract", "")})
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            contract = access.contract_for(user, form.cleaned_data["contract"], role=Role.CURATOR)
            try:
                contracts.set_version(curator=user, contract=contract, version=version, reason=form.cleaned_data["reason"])
            except Refused as refused:
                add_refusal(form, refused)
                status = status_of(refused)
            else:
                messages.success(request, f"{contract.name} is about version {version.number} from now on.")
                return see_other("control", contract.uid)
    shown = {"version": version_line(version), "dataset": version.dataset, "form": form, "contracts": others}
    return page(request, "dataset/use.html", here="datasets", status=status, **shown)


@require_http_methods(["GET", "HEAD", "POST"])
def overlap(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Say whether this version and another are about the same people."""
    user = reader(request)
    version = _own(user, uid)
    others = _others(user, version)
    first = {"other": datasets.alike(version)}
    form = OverlapForm(request.POST or None, others=others, initial=first)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                _say(user, version, form)
            except Refused as refused:
                add_refusal(form, refused)
                status = status_of(refused)
            else:
                messages.success(request, "What you said is on the record.")
                return see_other("dataset", version.dataset.uid)
    shown = {"version": version_line(version), "dataset": version.dataset, "form": form, "others": others}
    return page(request, "dataset/overlap.html", here="datasets", status=status, **shown)


def _others(user: User, version: DatasetVersion) -> list[DatasetVersion]:
    mine = DatasetVersion.objects.filter(dataset__owner=user).exclude(pk=version.pk)
    return list(mine.select_related("dataset").order_by("-id"))


def _say(user: User, version: DatasetVersion, form: OverlapForm) -> None:
    other = _own(user, form.cleaned_data["other"])
    same = form.cleaned_data["same_people"] == "yes"
    datasets.declare_overlap(curator=user, version=version, other=other, same_people=same, reason=form.cleaned_data["reason"])
