"""Asking for an experiment, and replaying it in the worker with its progress on the row.

A run that dies is taken up by the next bell and starts over; after two attempts it is refused. Doing it twice is harmless.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any

from django.db.models import F

from accounts.models import User
from curator import queue
from curator.experiments.scenarios import Chosen, transcript
from curator.laboratory import charts, document, lines
from curator.mechanism.comparators.events import Asked, Event, frame_of
from curator.mechanism.comparators.replay import Replay
from curator.mechanism.errors import BadInput, Refused, TooLarge, TooMany
from curator.models import Contract, Experiment
from curator.services.claiming import EXPERIMENTS, exclusive

MAX_WORKLOAD = 32 * 1024 * 1024  # characters
MAX_BYTES = 4 * MAX_WORKLOAD  # no text of that many characters has more
MAX_WAITING = 5  # experiments of one person
MAX_ATTEMPTS = 2
HEAD = 50  # lines
STEP = 500  # events between two looks at the clock
PROGRESS_SECONDS = 0.3
DIED = "The replay ended twice before it was done: the workload is too large for this machine."


def decoded(data: bytes, *, field: str) -> str:
    """The text of a workload file; Refused for one that is too large, not UTF-8 or empty."""
    if len(data) > MAX_BYTES:
        raise TooLarge("too_large", f"{field}: expected at most {MAX_WORKLOAD:,} characters", field=field)
    try:
        text = str(data, "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput("bad_line", f"{field}: not UTF-8 text (byte {error.start})", field=field) from error
    if not text.strip():
        raise BadInput("bad_line", f"{field}: it is empty; JSON lines were expected", field=field)
    return text


def start(*, owner: User, contract: Contract, chosen: Chosen, workload: str = "", title: str = "") -> Experiment:
    """Keep an experiment for the worker. Refused: a workload that is too large or does not parse; too many waiting."""
    if len(workload) > MAX_WORKLOAD:
        raise TooLarge("too_large", f"workload: expected at most {MAX_WORKLOAD:,} characters", field="workload")
    if "\x00" in workload:
        raise BadInput("bad_line", "workload: not a text file", field="workload")
    if workload:
        _check_start(workload)
    waiting = Experiment.objects.filter(owner=owner, state=Experiment.State.WAITING).count()
    if waiting >= MAX_WAITING:
        raise TooMany("too_many_waiting", f"You have {waiting} experiments waiting; at most {MAX_WAITING} may.")
    made = Experiment.objects.create(
        owner=owner,
        contract=contract,
        title=title or f"Transcript of {contract.name}",
        workload=workload,
        scenario=chosen.to_json(),
    )
    queue.ring_experiment(made.pk)
    return made


def _check_start(workload: str) -> None:
    """Parse the first lines, so that the commonest mistake, another kind of file, is told at once."""
    list(lines.Reader().events(workload.split("\n", HEAD)[:HEAD]))


def run(experiment_id: int) -> None:
    """Replay an experiment that waits; of no effect where another worker has it or it is final."""
    with exclusive(experiment_id, space=EXPERIMENTS) as mine:
        row = _claimed(experiment_id) if mine else None
        if row is None:
            return
        if row.attempts > MAX_ATTEMPTS:
            _finish(row, Experiment.State.REFUSED, detail=DIED)
            return
        try:
            result = _replayed(row)
        except Refused as refused:
            _finish(row, Experiment.State.REFUSED, detail=refused.detail)
        else:
            _finish(row, Experiment.State.DONE, result=result)


def _claimed(experiment_id: int) -> Experiment | None:
    """The experiment, if it waits, with the attempt counted and committed before anything can go wrong with it."""
    waiting = Experiment.objects.filter(pk=experiment_id, state=Experiment.State.WAITING)
    if not waiting.update(attempts=F("attempts") + 1):
        return None
    return waiting.select_related("contract__version").first()


def _replayed(row: Experiment) -> dict[str, Any]:
    chosen = Chosen.from_json(row.scenario)
    events = lines.read(row.workload.split("\n")) if row.workload else transcript(row.contract, chosen)
    stream = chosen.scenario(live=not row.workload).apply(events)
    replay = Replay(frame_of(stream))
    _advance(replay, stream, row)
    return {"report": document.document(replay.report()), "charts": charts.charts(replay)}


def _advance(replay: Replay, stream: Sequence[Event], row: Experiment) -> None:
    row.total = sum(isinstance(event, Asked) for event in stream)
    told = monotonic()
    for begin in range(0, len(stream), STEP):
        part = stream[begin : begin + STEP]
        replay.advance(part)
        row.done += sum(isinstance(event, Asked) for event in part)
        if monotonic() - told > PROGRESS_SECONDS:
            row.save(update_fields=["done", "total"])
            told = monotonic()


def _finish(row: Experiment, state: str, *, detail: str = "", result: dict[str, Any] | None = None) -> None:
    row.state, row.detail, row.result = state, detail, result
    row.save(update_fields=["state", "detail", "result", "done", "total"])
