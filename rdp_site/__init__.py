"""The site: settings, addresses, the processes that make it run, and the database they run on."""

from rdp_site.celery import app as celery_app

__all__ = ["celery_app"]
