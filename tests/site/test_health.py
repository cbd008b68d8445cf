"""Alive and ready are two questions: without a database the process lives but nobody should be sent to it."""

import os

from django.db import connections
from django.test import Client, override_settings

from rdp_site import heartbeat
from rdp_site.places import free_port


def test_a_running_site_is_alive_and_ready(db: None, client: Client) -> None:
    assert client.get("/health/live").content == b"live\n"
    assert client.get("/health/ready").content == b"ready\n"


def test_without_its_database_it_is_alive_but_not_ready(db: None, client: Client) -> None:
    database = connections.settings["default"]
    before = {"HOST": database["HOST"], "PORT": database["PORT"]}
    connections.close_all()
    database.update(HOST="127.0.0.1", PORT=str(free_port()))
    try:
        assert client.get("/health/live").status_code == 200
        assert client.get("/health/ready").status_code == 503
    finally:
        database.update(before)
        connections.close_all()


@override_settings(SECURE_SSL_REDIRECT=True)
def test_a_probe_need_not_speak_https(db: None, client: Client) -> None:
    assert client.get("/health/live").status_code == 200
    assert client.get("/sign-in/").status_code == 301


def test_with_a_silent_worker_it_is_not_ready(db: None, client: Client) -> None:
    heartbeat.end()
    assert client.get("/health/ready").status_code == 200
    os.utime(heartbeat.FILE, (0, 0))
    try:
        assert client.get("/health/ready").content == b"the worker is silent\n"
    finally:
        heartbeat.FILE.unlink()
