"""The WSGI application that gunicorn serves, warm before the first visitor."""

import logging
import os
import threading

from django.core.wsgi import get_wsgi_application
from django.db import DatabaseError, connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rdp_site.settings")

application = get_wsgi_application()


def _warm_up() -> None:
    """Replay long records now, so that no visitor waits for it; without a database whoever comes first does."""
    from curator.selectors import comparison  # models can be imported only after set-up

    try:
        comparison.warm()
    except DatabaseError as error:
        logging.getLogger(__name__).warning("not warmed up: %s", type(error).__name__)
    finally:
        connections.close_all()


threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
