"""A contract's control page: what it stands at, and what its curator may still change."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from accounts import access
from accounts.models import Role, User
from curator.mechanism.errors import Refused
from curator.models import Contract
from curator.refusals import status_of
from curator.selectors.control import control_page
from curator.selectors.control_room import Room, control_room
from curator.services import contracts
from curator.services.contract_rows import LIVE
from curator.web.charts import analysts_chart, burn_chart
from curator.web.forms.contracts import STANDS, CloseForm, ControlForm, DiscardForm, EndForm, FreezeForm, ReopenForm
from curator.web.pages import add_refusal, contract_page, reader
from curator.web.problems import Problem
from curator.web.views.ask import see_other
from rdp_site import heartbeat

FORMS: dict[str, tuple[type[ControlForm], ...]] = {
    Contract.State.DRAFT: (DiscardForm,),
    Contract.State.OPEN: (EndForm, FreezeForm, CloseForm),
    Contract.State.FROZEN: (ReopenForm, EndForm, CloseForm),
    Contract.State.CLOSED: (),
}
STEPS: dict[str, tuple[Callable[..., object], str]] = {
    "freeze": (contracts.freeze, "The contract is frozen."),
    "reopen": (contracts.reopen, "The contract is open again."),
    "close": (contracts.close, "The contract is closed."),
    "end": (contracts.set_end_date, "The last day is changed."),
}


@require_http_methods(["GET", "HEAD", "POST"])
def control(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show it, or do what one of its buttons says."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.CURATOR)
    forms = [form(initial={"ends_on": contract.ends_on}, prefix=form.do) for form in FORMS[contract.state]]
    if request.method != "POST":
        return _show(request, contract, forms)
    step = request.POST.get("do", "")
    try:
        if told := _plain_step(step, user, contract, stands="stands" in request.POST):
            messages.success(request, told)
            return see_other("control", contract.uid)
    except Refused as refused:
        told = "Tick this to open it." if refused.field == "stands" else refused.detail
        return _show(request, contract, forms, problems=[Problem("", "", told)], status=status_of(refused))
    return _form_step(step, request, user, contract, forms)


def _plain_step(step: str, user: User, contract: Contract, *, stands: bool) -> str:
    """Buttons without a form of their own; empty where `step` is none of them."""
    if step == "open":
        contracts.open_draft(curator=user, contract=contract, stands=stands)
        return "The contract is open. Add the people who may ask."
    return ""


def _form_step(step: str, request: HttpRequest, user: User, contract: Contract, forms: list[ControlForm]) -> HttpResponse:
    place = next((at for at, form in enumerate(forms) if form.do == step), None)
    if place is None:
        problem = Problem("", "", f"The contract is {contract.state}: this cannot be done now.")
        return _show(request, contract, forms, problems=[problem], status=409)
    forms[place] = form = type(forms[place])(request.POST, prefix=step)
    status = 400
    if form.is_valid():
        do, told = STEPS[step]
        try:
            do(curator=user, contract=contract, **form.cleaned_data)
        except Refused as refused:
            add_refusal(form, refused)
            status = status_of(refused)
        else:
            messages.success(request, told)
            return see_other("control", contract.uid)
    return _show(request, contract, forms, status=status)


def _show(
    request: HttpRequest, contract: Contract, forms: Sequence[ControlForm], *, problems: Sequence[Problem] = (), status: int = 200
) -> HttpResponse:
    now = datetime.now(UTC)
    found, room = control_page(contract, now), room_of(contract, now)
    return contract_page(
        request, "contract/control.html", contract, here="control", status=status, control=found, forms=forms, problems=problems,
        room=room, may_raise=contract.state in LIVE, stands=STANDS,
        burn_chart=burn_chart(room.burned, contract.rho_ans), analysts_chart=analysts_chart(found.analysts),
    )  # fmt: skip


def room_of(contract: Contract, now: datetime) -> Room:
    """What goes on in a contract, with the worker's sign of life on this machine."""
    return control_room(contract, now, silence=heartbeat.silence(), patience=settings.WORKER_PATIENCE)
