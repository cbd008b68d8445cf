"""`/metrics` in Prometheus' text form, for a collector that knows the token; without RDP_METRICS_TOKEN there is no such page.

Read from the rows at each call, not counted in processes: whichever web process answers, the numbers are the same.
"""

import secrets
from collections.abc import Callable, Iterator

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0
from prometheus_client.registry import Collector

from curator.mechanism.rho import UNITS_PER_RHO
from curator.selectors.operations import ContractState, SiteState, site_state
from rdp_site import heartbeat

CONTRACT_GAUGES: dict[str, tuple[str, Callable[[ContractState], float | None]]] = {
    "residual_contract_rho_answers": ("Budget for answers, in rho", lambda row: row.rho_ans / UNITS_PER_RHO),
    "residual_contract_rho_answers_spent": ("Spent of it, in rho", lambda row: row.spent / UNITS_PER_RHO),
    "residual_contract_rho_diagnostics": ("Budget for diagnostics, in rho", lambda row: row.rho_est / UNITS_PER_RHO),
    "residual_contract_rho_diagnostics_spent": ("Spent of it, in rho", lambda row: row.est_spent / UNITS_PER_RHO),
    "residual_contract_left_ratio": ("Share of the budget for answers that is left", lambda row: row.left_share / 1000),
    "residual_queries_waiting": ("Questions that wait", lambda row: row.waiting),
    "residual_oldest_query_seconds": ("How long the oldest of them has waited", lambda row: row.waited),
    "residual_contract_held": (
        "1 where its record and its receipts differ: nothing is released",
        lambda row: int(bool(row.held)),
    ),
    "residual_record_consistent": (
        "1 where the latest verification found the record consistent, 0 where it did not",
        lambda row: None if row.consistent is None else int(row.consistent),
    ),
}


class _Site(Collector):
    """One reading of the site as metric families; a contract is named by its public id alone."""

    def __init__(self, state: SiteState) -> None:
        self._state = state

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The families, each with a value per contract where it is about contracts."""
        yield GaugeMetricFamily("residual_uploads_waiting", "Files that wait to be frozen", value=self._state.uploads_waiting)
        yield GaugeMetricFamily("residual_budget_requests_open", "Requests to decide", value=self._state.requests_open)
        if self._state.worker_silence is not None:
            text = "Seconds since the worker's last sign of life"
            yield GaugeMetricFamily("residual_worker_silence_seconds", text, value=self._state.worker_silence)
        for name, (text, value_of) in CONTRACT_GAUGES.items():
            family = GaugeMetricFamily(name, text, labels=["contract"])
            for contract in self._state.contracts:
                value = value_of(contract)
                if value is not None:
                    family.add_metric([contract.uid], value)
            yield family


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Give the metrics to whoever brings the token; a page that does not exist to everybody else."""
    expected = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not expected or not secrets.compare_digest(given.encode(), expected.encode()):
        raise Http404
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Site(site_state(timezone.now(), heartbeat.silence())))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_1_0_0)
