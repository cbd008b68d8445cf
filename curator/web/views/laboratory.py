"""The laboratory: the same questions under other settings, replayed by the worker. Reads no data and spends nothing."""

import json
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods, require_safe

from accounts import access
from curator.experiments import running
from curator.experiments.scenarios import Chosen
from curator.mechanism.errors import Refused
from curator.models import Contract, Experiment
from curator.refusals import status_of
from curator.selectors.experiments import document, experiment_page, own
from curator.web.charts import experiment_charts
from curator.web.forms.laboratory import ExperimentForm
from curator.web.pages import add_refusal, contract_page, page, reader
from curator.web.views.ask import see_other


@require_http_methods(["GET", "HEAD", "POST"])
def laboratory(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Start an experiment with a contract's transcript or a workload file; one's earlier ones."""
    user = reader(request)
    contract = access.contract_for(user, uid)
    access.require(user, contract, *access.READERS)
    if request.method != "POST":
        form = ExperimentForm(initial=ExperimentForm.initial_of(Chosen.of(contract)))
        return _form(request, contract, form)
    form = ExperimentForm(request.POST, request.FILES)
    if not form.is_valid():
        return _form(request, contract, form, status=400)
    file = form.cleaned_data["file"]
    try:
        made = running.start(
            owner=user,
            contract=contract,
            chosen=form.chosen(),
            workload=_text(file) if file else "",
            title=file.name[:255] if file else "",
        )
    except Refused as refused:
        add_refusal(form, refused)
        return _form(request, contract, form, status=status_of(refused))
    return see_other("experiment", made.uid)


def _form(request: HttpRequest, contract: Contract, form: ExperimentForm, status: int = 200) -> HttpResponse:
    earlier = own(contract, reader(request)).items
    return contract_page(request, "laboratory/start.html", contract, here="laboratory", status=status, form=form, earlier=earlier)


def _text(file: "UploadedFile[bytes]") -> str:
    return running.decoded(file.read(running.MAX_BYTES + 1), field="file")


@require_http_methods(["GET", "HEAD", "POST"])
def experiment(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One experiment: its progress, then tables and charts; changing a setting starts another with the same workload."""
    user = reader(request)
    row = access.experiment_for(user, uid)
    if request.method != "POST":
        form = ExperimentForm(initial=ExperimentForm.initial_of(Chosen.from_json(row.scenario)))
        return _result(request, row, form)
    form = ExperimentForm(request.POST)
    if not form.is_valid():
        return _result(request, row, form, status=400)
    again = running.start(owner=user, contract=row.contract, chosen=form.chosen(), workload=row.workload, title=row.title)
    return see_other("experiment", again.uid)


def _result(request: HttpRequest, row: Experiment, form: ExperimentForm, status: int = 200) -> HttpResponse:
    found = experiment_page(row)
    charts = experiment_charts(found.charts) if found.charts else None
    return contract_page(
        request,
        "laboratory/experiment.html",
        row.contract,
        here="laboratory",
        status=status,
        form=form,
        page=found,
        charts=charts,
    )


@require_safe
def status(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The progress, for a page that follows; once it is done the page is asked to load itself whole."""
    found = experiment_page(access.experiment_for(reader(request), uid))
    answer = page(request, "laboratory/progress.html", page=found)
    if not found.waiting:
        answer.headers["HX-Refresh"] = "true"
    return answer


@require_safe
def download(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The result as JSON: exactly what `manage.py laboratory --json` prints, with the settings it was made under."""
    found = experiment_page(access.experiment_for(reader(request), uid))
    if found.waiting or not found.report:
        raise access.not_yours()
    body = json.dumps(document(found), indent=2, ensure_ascii=False)
    headers = {"Content-Disposition": f'attachment; filename="experiment-{found.uid}.json"'}
    return HttpResponse(body, content_type="application/json", headers=headers)
