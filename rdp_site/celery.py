"""The Celery application: a doorbell. What is to be done stands in the query table, messages carry ids only."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rdp_site.settings")

app = Celery("rdp_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
