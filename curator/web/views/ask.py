"""Asking: one form, shown as conditions or as SQL, priced while it is filled in, sent once under its key."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts import access, throttles
from accounts.models import Role, User
from curator.laboratory.rehearsal import rehearse
from curator.language import Ask, parse_ask
from curator.mechanism import accuracy
from curator.mechanism.errors import Conflict, Refused, TooMany
from curator.models import Contract
from curator.refusals import say_when, status_of
from curator.selectors import wording
from curator.selectors import workspace as reads
from curator.selectors.openness import is_open
from curator.selectors.quotes import Quote
from curator.selectors.quotes import quote as price
from curator.services import queries, saved
from curator.web.forms import ask_state
from curator.web.forms.ask_body import body_of, problem_of
from curator.web.forms.ask_controls import controls
from curator.web.forms.ask_start import started
from curator.web.forms.ask_state import AskState
from curator.web.forms.ask_steps import rebuilt
from curator.web.pages import contract_page, reader
from curator.web.problems import Problem


@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Show the form, rebuild it, price it, or send it: each is a button of it."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.ANALYST)
    slowed = _slowed(user)
    if request.method != "POST":
        return _show(request, contract, user, started(request.GET, contract, user), slowed=slowed)
    state = ask_state.read(request.POST)
    if slowed is not None:
        return _show(request, contract, user, state, slowed=slowed)
    step = request.POST.get("do", "quote")
    if step == "ask":
        return _send(request, contract, user, state)
    if step == "save":
        return _save(request, contract, user, state)
    if step == "rehearse":
        return _rehearse(request, contract, user, state)
    try:
        return _show(request, contract, user, rebuilt(state, step, contract), quiet=step in ("add", "group", "refresh"))
    except Refused as refused:
        return _show(request, contract, user, state, problems=[problem_of(refused)], status=status_of(refused))


@require_POST
def quote(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The price of the form as it stands, as a fragment."""
    user = reader(request)
    contract = access.contract_for(user, uid, role=Role.ANALYST)
    slowed = _slowed(user)
    found, problems, status = priced(contract, user, ask_state.read(request.POST)) if slowed is None else _waits(slowed)
    context = {"contract": contract, "quote": found, "problems": problems}
    return say_when(render(request, "query/quote_fragment.html", context, status=status), slowed)


def _slowed(user: User) -> TooMany | None:
    """The refusal of one more question to read, if there were too many: it is told beside the form, which stays as it is."""
    try:
        throttles.check("question", user.pk, settings.QUOTE_RATE)
    except TooMany as refused:
        return refused
    return None


def _waits(slowed: TooMany) -> tuple[None, Sequence[Problem], int]:
    return None, (problem_of(slowed),), status_of(slowed)


def priced(contract: Contract, user: User, state: AskState) -> tuple[Quote | None, Sequence[Problem], int]:
    """A quote, or what keeps it from being made and the status that this deserves."""
    try:
        return price(contract=contract, analyst=user, ask=understood(contract, state)), (), 200
    except Refused as refused:
        return None, (problem_of(refused),), status_of(refused)


def understood(contract: Contract, state: AskState) -> Ask:
    """What the form asks, by the same reading as the API's."""
    schema, table = reads.schema_of(contract), contract.version.table
    return parse_ask(body_of(state, schema=schema, table=table), schema=schema, table=table)


def _send(request: HttpRequest, contract: Contract, user: User, state: AskState) -> HttpResponse:
    try:
        body = body_of(state, schema=reads.schema_of(contract), table=contract.version.table)
        query = queries.submit(analyst=user, contract=contract, body=body, key=state.key)[0]
    except Conflict as conflict:
        if conflict.code != "key_reused":
            return _show(request, contract, user, state, problems=[problem_of(conflict)], status=status_of(conflict))
        fresh = replace(state, key=ask_state.fresh_key())
        return _show(request, contract, user, fresh, problems=[REUSED], status=status_of(conflict))
    except Refused as refused:
        return _show(request, contract, user, state, problems=[problem_of(refused)], status=status_of(refused))
    return see_other("query", query.uid)


def _save(request: HttpRequest, contract: Contract, user: User, state: AskState) -> HttpResponse:
    """Keep the question under its name; the form goes on as the kept one."""
    try:
        row = saved.save(owner=user, contract=contract, ask=understood(contract, state), name=state.label)
    except Refused as refused:
        return _show(request, contract, user, state, problems=[problem_of(refused)], status=status_of(refused))
    messages.success(request, f"Kept as “{row.name}” among your saved questions. Nothing was asked.")
    answer = see_other("ask", contract.uid)
    answer["Location"] += f"?saved={row.uid}"
    return answer


def _rehearse(request: HttpRequest, contract: Contract, user: User, state: AskState) -> HttpResponse:
    """Try the question on made-up people: the form stays, what came of it stands below."""
    try:
        ask = understood(contract, state)
        tried = rehearse(ask, reads.schema_of(contract))
    except Refused as refused:
        problems, alone = [problem_of(refused)], bool(request.headers.get("HX-Request"))
        return _show(
            request, contract, user, state, problems=problems, status=status_of(refused), hindered=problems if alone else ()
        )
    words = (wording.question_words(ask.question.to_json()), wording.target_words(accuracy.target_json(ask.target)))
    return _show(request, contract, user, state, rehearsal=tried, rehearsed=words)


REUSED = Problem(
    "", "", "This form was sent before, with another question. If you mean this one as a new question, press Ask again."
)


def see_other(name: str, *args: object) -> HttpResponseRedirect:
    """Go on to another page after something was done, so that reloading does not do it again."""
    answer = redirect(name, *args)
    answer.status_code = 303
    return answer


def _show(
    request: HttpRequest,
    contract: Contract,
    user: User,
    state: AskState,
    *,
    problems: Sequence[Problem] = (),
    status: int = 200,
    quiet: bool = False,
    slowed: TooMany | None = None,
    **more: object,
) -> HttpResponse:
    """The whole page; `quiet` keeps what is not filled in yet out of the form itself, `slowed` the question unread."""
    schema = reads.schema_of(contract)
    state = state.settled(schema)
    found, hindered, hindered_status = priced(contract, user, state) if slowed is None else _waits(slowed)
    if slowed is not None:
        quiet, status = True, hindered_status
    if request.method == "POST" and not problems and not quiet:
        problems, status = hindered, hindered_status
    answer = contract_page(
        request,
        "query/ask.html",
        contract,
        here="ask",
        status=status,
        form=controls(state, schema, problems),
        problems=problems or (hindered if quiet else ()),
        listed=problems,
        quote=found,
        meter=reads.meter(contract, user),
        dictionary=reads.dictionary(contract),
        privacy_unit=reads.privacy_unit(contract.version.person_column, contract.k),
        open_now=is_open(contract, datetime.now(UTC)),
        **more,
    )
    return say_when(answer, slowed)
