"""Running the controller in the test's own process, and what came of it."""

from curator.models import Contract, Decision, Query
from curator.services import execution
from tests.worker.scene import check_books


def run(contract: Contract) -> None:
    execution.run(contract.pk)
    check_books(contract)


def spent(contract: Contract) -> int:
    return Contract.objects.values_list("spent_bound", flat=True).get(pk=contract.pk)


def decision(query: Query) -> Decision:
    return Decision.objects.get(query=query)


def served(contract: Contract, *queries: Query) -> list[Decision]:
    run(contract)
    return [decision(query) for query in queries]
