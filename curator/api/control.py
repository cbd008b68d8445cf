"""A contract's control room over JSON."""

from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from curator.api.base import Api, curated
from curator.api.record_shapes import ControlShape
from curator.selectors.control import gauge, open_requests
from curator.selectors.control_room import control_room
from rdp_site import heartbeat


class Control(Api):
    """`contracts/{id}/control/`"""

    @extend_schema(responses=ControlShape)
    def get(self, request: Request, uid: UUID) -> Response:
        """For its curator: accounts, queue, worker, burn-down, scarcity so far (spend by analyst is in `members/`)."""
        _, contract = curated(request, uid)
        room = control_room(contract, datetime.now(UTC), silence=heartbeat.silence(), patience=settings.WORKER_PATIENCE)
        return Response(ControlShape({"gauge": gauge(contract), "room": room, "open_requests": open_requests(contract)}).data)
