"""Two addresses for whoever keeps the site running: is the process alive, can it serve."""

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from rdp_site import heartbeat


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Answer 200 while this process answers at all; a restart helps where it does not."""
    return HttpResponse("live\n", content_type="text/plain")


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Answer 200 when the database answers and a worker that was here still works, else 503: send nobody here for now."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain")
    silent = heartbeat.silence()  # None where the worker runs on another machine
    if silent is not None and silent > settings.WORKER_PATIENCE:
        return HttpResponse("the worker is silent\n", status=503, content_type="text/plain")
    return HttpResponse("ready\n", content_type="text/plain")
