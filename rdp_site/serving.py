"""Gunicorn's settings, `--config python:rdp_site.serving`: a new process is warm before its first visitor.

Gunicorn trusts nobody's SCRIPT_NAME, PATH_INFO or X-Forwarded-Proto, whoever sends them: behind a proxy the settings read the one
header that is meant (see RDP_BEHIND_PROXY), and without one anybody on this machine could send them.
"""

import logging
import threading

from django.db import DatabaseError, connections

workers, threads = 2, 4
graceful_timeout = 20
control_socket_disable = True
forwarded_allow_ips = ""
forwarder_headers = ""


def post_worker_init(_worker: object) -> None:
    """Called by gunicorn in each process once the application is there."""
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()


def _warm_up() -> None:
    """Replay long records now, so that no visitor waits for it; without a database whoever comes first does."""
    from curator.selectors import comparison  # models can be imported only after set-up

    try:
        comparison.warm()
    except DatabaseError as error:
        logging.getLogger(__name__).warning("not warmed up: %s", type(error).__name__)
    finally:
        connections.close_all()
