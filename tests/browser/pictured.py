"""The demonstration's survey with its round of questions asked and answered: what pictures are taken of."""

from dataclasses import dataclass

from curator.demo import script, stage
from curator.experiments import running
from curator.experiments.scenarios import Chosen
from curator.models import BudgetRequest, Contract, Experiment, Query, Upload, Verification
from curator.services import budget_requests, execution, queries, saved, uploads
from curator.services.verification import requested
from tests.browser.company import make_company
from tests.cast import Cast, units
from tests.uploads import sent, served


@dataclass(frozen=True, slots=True)
class Pictured:
    """Who and what there is to look at."""

    people: Cast
    contract: Contract
    answered: Query
    free: Query
    tightened: Query
    histogram: Query
    scarce: Query
    waiting: Query
    request: BudgetRequest
    experiment: Experiment
    verified: Verification
    verifying: Verification
    company: dict[str, dict[str, str]]  # further pages by who looks at them
    described: Upload
    refused: Upload


def ask(step: script.Step, people: Cast, contract: Contract) -> Query:
    """Submit one question of the round."""
    return queries.submit(analyst=getattr(people, step.analyst), contract=contract, body=step.request, key=step.key)[0]


def make_pictured() -> Pictured:
    """Everything but the last question is decided."""
    cast = stage.people()
    people = Cast(**{name: user for name, (user, _) in cast.items()})
    contract = stage.contract(cast)
    told = [ask(step, people, contract) for step in script.ROUND]
    execution.run(contract.pk)
    stage.leave(contract, cast, script.REST)
    scarce = [ask(step, people, contract) for step in script.SCARCE]
    execution.run(contract.pk)
    request = budget_requests.request(
        analyst=people.bob,
        contract=contract,
        amount=units("0.02") or 0,
        reason="The 401(k) tables by age group, at ±15, for the spring report.",
    )
    young = {"sql": f"{script.FROM} WHERE age < 45", "accuracy": {"within": 40, "confidence": "0.95"}, "label": "Below 45"}
    late = script.Step("alice", "below 45", young)
    waiting = ask(late, people, contract)
    experiment = running.start(owner=people.carol, contract=contract, chosen=Chosen.of(contract))
    running.run(experiment.pk)
    chain = str(contract.uid)
    verified, verifying = (requested.start(owner=people.dora, chains=[chain]) for _ in range(2))
    requested.run(verified.pk)
    for name in ("", "Every spring"):
        saved.save_query(owner=people.alice, query=told[0], name=name)
    for row in (*told, *scarce):
        row.refresh_from_db()
    company = make_company(people, contract)
    contract.refresh_from_db()
    described, refused = files(people)
    return Pictured(
        people, contract, told[0], told[1], told[3], told[4], scarce[1], waiting, request, experiment, verified,
        verifying, company, described, refused,
    )  # fmt: skip


def files(people: Cast) -> tuple[Upload, Upload]:
    """A file half declared, with a domain suggested and cells that would not fit, and one that was refused."""
    described = sent(people.carol, name="Panel")
    spelled = {"F": ["f", "female"], "M": ["m"]}
    sexes = {"name": "sex", "kind": "category", "values": ["F", "M"], "spellings": spelled, "title": "Sex"}
    incomes = {"name": "income", "kind": "decimal", "low": 0, "high": 10, "step": 0.5, "missing": True}
    for column in (sexes, incomes):
        uploads.declare(curator=people.carol, upload=described, column=column)
    uploads.ask_for_suggestions(curator=people.carol, upload=described, columns=["born"], acknowledged=True)
    uploads.read_again(curator=people.carol, upload=served(described), acknowledged=True)
    return served(described), sent(people.carol, "age;;age\n1;2;3\n", dataset=described.dataset)


def pages(scene: Pictured) -> dict[str, dict[str, str]]:
    """What each person looks at: a name for the picture, and the address."""
    return {who: {**addresses, **scene.company.get(who, {})} for who, addresses in _pages(scene).items()}


def _pages(scene: Pictured) -> dict[str, dict[str, str]]:
    inside = f"/contracts/{scene.contract.uid}"
    return {
        "alice": {
            "home": "/", "words": "/words/", "password": "/password/", "workspace": f"{inside}/", "ask": f"{inside}/ask/",
            "ask-again": f"{inside}/ask/?from={scene.answered.uid}&within=15",
            "ask-histogram": f"{inside}/ask/?from={scene.histogram.uid}",
            "released": f"{inside}/released/",
            "released-search": f"{inside}/released/?column=age&within=15", "released-nothing": f"{inside}/released/?within=1",
            "saved": f"{inside}/saved/",
            "compare": f"{inside}/compare/", "compare-all": f"{inside}/compare/?whose=all", "budget": f"{inside}/budget/",
            "answer": f"/queries/{scene.answered.uid}/", "histogram": f"/queries/{scene.histogram.uid}/",
            "waiting": f"/queries/{scene.waiting.uid}/", "missing": "/nowhere/",
        },
        "bob": {"free": f"/queries/{scene.free.uid}/", "tightened": f"/queries/{scene.tightened.uid}/",
                "scarce": f"/queries/{scene.scarce.uid}/", "saved-none": f"{inside}/saved/",
                "budget-waiting": f"{inside}/budget/"},
        "carol": {
            "home": "/", "control": f"{inside}/control/", "people": f"{inside}/people/", "requests": f"{inside}/requests/",
            "compare": f"{inside}/compare/", "datasets": "/datasets/", "dataset": f"/datasets/{scene.contract.dataset.uid}/",
            "dataset-new": "/datasets/new/", "dataset-files": f"/datasets/{scene.described.dataset.uid}/",
            "version-new": f"/datasets/{scene.described.dataset.uid}/versions/new/", **file_pages(scene),
            "contract-new": "/contracts/new/",
            "laboratory": f"{inside}/laboratory/", "experiment": f"/experiments/{scene.experiment.uid}/",
        },
        "dora": {
            "record": "/audit/", "event": f"/audit/{scene.contract.uid}/23/", "verify": "/audit/verify/",
            "verification": f"/audit/verifications/{scene.verified.uid}/",
            "verification-waiting": f"/audit/verifications/{scene.verifying.uid}/", "receipts": "/audit/receipts/",
            "balance": f"/audit/balance/{scene.contract.uid}/",
            "balance-one": f"/audit/balance/{scene.contract.uid}/?analyst=bob",
            "record-nothing": "/audit/?kind=sign_in&until=2001-01-01",
            "answer": f"/queries/{scene.free.uid}/",
        },
        "nobody": {"sign-in": "/sign-in/"},
    }  # fmt: skip


def file_pages(scene: Pictured) -> dict[str, str]:
    """The way from a file to a version, and what is said of versions."""
    file, version = f"/uploads/{scene.described.uid}", f"/versions/{scene.contract.version.uid}"
    return {
        "upload": f"{file}/", "upload-refused": f"/uploads/{scene.refused.uid}/", "column": f"{file}/columns/2/",
        "column-misfit": f"{file}/columns/1/",
        "column-suggested": f"{file}/columns/4/", "column-undeclared": f"{file}/columns/0/", "suggest": f"{file}/suggest/",
        "freeze": f"{file}/freeze/", "version-use": f"{version}/use/", "version-overlap": f"{version}/overlap/",
    }  # fmt: skip
