"""How the Ask form starts: empty, from an earlier question (to tighten it), or from a released answer."""

from dataclasses import replace
from decimal import Decimal, InvalidOperation

from django.http import QueryDict

from accounts import access
from accounts.models import User
from curator.language import Question
from curator.mechanism import accuracy
from curator.mechanism.accuracy import Within
from curator.models import Contract, Descriptor, Query, SavedQuestion
from curator.selectors.workspace import schema_of
from curator.web.forms.ask_body import read_condition
from curator.web.forms.ask_state import AskState, fresh_key
from curator.web.forms.ask_switch import percent, with_question, with_target


def started(data: QueryDict, contract: Contract, user: User) -> AskState:
    """The form for a fresh question under `contract`. NotYours where it is to start from something not the reader's."""
    state = AskState(key=fresh_key())
    if uid := data.get("from", ""):
        query = access.query_for(user, uid)
        if query.contract_id != contract.pk:
            raise access.not_yours()
        return tightened(from_query(state, query, contract), data.get("within", ""))
    if uid := data.get("saved", ""):
        saved = access.saved_for(user, uid)
        if saved.contract_id != contract.pk:
            raise access.not_yours()
        return from_query(state, saved, contract)
    if digest := data.get("release", ""):
        return from_release(state, digest, contract, data)
    return state


def confidence_of(text: str) -> Decimal | None:
    """A confidence given in percent as a share; None where it is none."""
    try:
        share = Decimal(text) / 100
    except InvalidOperation:
        return None
    return share if Decimal("0.5") < share < 1 and len(text) < 20 else None


def from_query(state: AskState, query: Query | SavedQuestion, contract: Contract) -> AskState:
    """The form asking an earlier or a kept question again."""
    schema, table = schema_of(contract), contract.version.table
    label = query.label if isinstance(query, Query) else query.name
    state = replace(state, under_scarcity=query.under_scarcity, label=label)
    state = with_target(state, accuracy.parse_target(query.accuracy))
    return with_question(state, Question.from_json(query.question), schema=schema, table=table)


def tightened(state: AskState, within: str) -> AskState:
    """The same with a bound of so many people, where one is given."""
    if not within.isdecimal() or state.kind not in ("within", "standard_error", "rho"):
        return state
    return replace(state, kind="within", amount=within)


def from_release(state: AskState, digest: str, contract: Contract, data: QueryDict) -> AskState:
    """The form asking for something that is known already, at the accuracy that is free (and the confidence looked at)."""
    held = Descriptor.objects.filter(digest=digest, version=contract.version, supports__contract=contract)
    found = held.values_list("text", "supports__rho_hist").first()
    if found is None:
        raise access.not_yours()
    schema, table = schema_of(contract), contract.version.table
    question = read_condition(found[0], schema=schema, table=table, of_record=True)
    confidence = confidence_of(data.get("confidence", "")) or accuracy.DEFAULT_CONFIDENCE
    bound = accuracy.bound_reached(found[1], Within(1, confidence))
    state = replace(state, amount=str(bound or state.amount), confidence=percent(confidence))
    return with_question(state, question, schema=schema, table=table)
