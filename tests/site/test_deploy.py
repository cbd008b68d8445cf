"""The examples for systemd and for a Procfile name commands that there are."""

import configparser
import re

from django.core.management import get_commands

from rdp_site.environment import ROOT

DEPLOY = ROOT / "rdp_site" / "deploy"


def test_the_unit_runs_the_supervisor_and_stops_it_gently() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    unit.read_string((DEPLOY / "residual.service").read_text(encoding="utf-8"))
    service = unit["Service"]
    assert service["ExecStart"].endswith("manage.py run_services")
    assert service["KillSignal"] == "SIGTERM"
    assert int(service["TimeoutStopSec"]) > 30, "longer than the grace that the supervisor gives its services"


def test_what_lives_outside_var_can_be_written() -> None:
    text = (DEPLOY / "residual.service").read_text(encoding="utf-8")
    assert "StateDirectory=residual\n" in text
    assert "Environment=RDP_RECEIPTS=/var/lib/residual/receipts\n" in text


def test_every_command_named_there_exists() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DEPLOY.iterdir())
    named = set(re.findall(r"manage\.py (\w+)", text))
    assert {"run_services", "setup_database", "verify"} <= named
    assert named <= set(get_commands())
