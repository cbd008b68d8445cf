"""Keeping questions under names: one's own, a bounded number in each contract. Keeping one asks nothing and charges nothing."""

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from curator.language import Ask, write_sql
from curator.mechanism import accuracy
from curator.mechanism.errors import Conflict, TooMany
from curator.models import Contract, Query, SavedQuestion
from curator.selectors import wording
from curator.selectors.workspace import schema_of
from curator.services import texts

MOST = 200  # of one person in one contract
NAME = 200


def save(*, owner: User, contract: Contract, ask: Ask, name: str) -> SavedQuestion:
    """Keep a question; without a name it gets the question's own words.

    Refused: name_taken (Conflict) for a name that the owner has given to another one, too_many_saved (TooMany), bad names.
    """
    row = SavedQuestion(
        contract=contract,
        owner=owner,
        name=name,
        question=ask.question.to_json(),
        sql=write_sql(ask.question, schema=schema_of(contract), table=contract.version.table),
        accuracy=accuracy.target_json(ask.target),
        under_scarcity=ask.under_scarcity.value,
    )
    return _keep(row, name)


def save_query(*, owner: User, query: Query, name: str) -> SavedQuestion:
    """Keep a question that was asked; refused as `save` is."""
    row = SavedQuestion(
        contract=query.contract,
        owner=owner,
        question=query.question,
        sql=query.sql,
        accuracy=query.accuracy,
        under_scarcity=query.under_scarcity,
    )
    return _keep(row, name or query.label)


def rename(*, saved: SavedQuestion, name: str) -> SavedQuestion:
    """Give it another name; refused: name_taken, bad names."""
    with transaction.atomic():
        _alone(saved.owner_id)
        saved.name = texts.line(name, field="name", most=NAME)
        if _namesakes(saved).exists():
            raise _taken(saved.name)
        saved.save(update_fields=["name"])
    return saved


def delete(*, saved: SavedQuestion) -> None:
    """Forget it; questions asked from it stay what they are."""
    saved.delete()


def _keep(row: SavedQuestion, name: str) -> SavedQuestion:
    given = texts.line(name, field="name", most=NAME) if name.strip() else ""
    with transaction.atomic():
        _alone(row.owner_id)
        if SavedQuestion.objects.filter(contract=row.contract_id, owner=row.owner_id).count() >= MOST:
            detail = f"At most {MOST} questions are kept in one contract: delete one that is no longer needed."
            raise TooMany("too_many_saved", detail, field="label", most=MOST)
        row.name = given or _free_name(row)
        if _namesakes(row).exists():
            raise _taken(row.name)
        row.save(force_insert=True)
    return row


def _alone(owner_id: int) -> None:
    """One change of one person's list at a time, so that the bound and the names hold."""
    User.objects.select_for_update(no_key=True).get(pk=owner_id)


def _namesakes(row: SavedQuestion) -> QuerySet[SavedQuestion]:
    return SavedQuestion.objects.filter(contract=row.contract_id, owner=row.owner_id, name=row.name).exclude(pk=row.pk)


def _free_name(row: SavedQuestion) -> str:
    """The question in words, with a number behind where that name is there already."""
    words = wording.question_words(row.question)[: NAME - 6].strip()
    there = set(SavedQuestion.objects.filter(contract=row.contract_id, owner=row.owner_id).values_list("name", flat=True))
    return next(name for name in (words, *(f"{words} ({number})" for number in range(2, MOST + 2))) if name not in there)


def _taken(name: str) -> Conflict:
    return Conflict("name_taken", f"You keep another question under the name “{name}”: choose a different one.", field="label")
