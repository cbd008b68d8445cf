"""The Celery application: a doorbell. What is to be done stands in the query table, messages carry ids only."""

import os

from celery import Celery
from celery.signals import task_postrun, task_prerun

from rdp_site import heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rdp_site.settings")

app = Celery("rdp_site", amqp="rdp_site.broker:Amqp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def _begun(**_: object) -> None:
    heartbeat.begin()


def _ended(**_: object) -> None:
    heartbeat.end()


task_prerun.connect(_begun, weak=False)
task_postrun.connect(_ended, weak=False)
