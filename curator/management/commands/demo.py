"""`manage.py demo`: the whole product on a real survey, a round of questions through the real worker, then a site to look at."""

import argparse
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from curator.demo import playing, script, stage
from curator.management.commands import run_services
from curator.mechanism.errors import Refused
from curator.models import Contract
from rdp_site import supervisor
from rdp_site.environment import VAR

LOG = VAR / "services.log"


class Command(BaseCommand):
    """Sets up, starts everything, plays, prints; `--once` stops there, else it serves until Ctrl-C."""

    help = "Set everything up, play a round of questions on a real survey, print it, and serve the site."
    requires_migrations_checks = False

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """One switch."""
        parser.add_argument("--once", action="store_true", help="stop after the round")

    def handle(self, *args: object, **options: Any) -> None:
        """Everything from nothing; whatever cannot be done is an error of one sentence."""
        call_command("setup_database", verbosity=0)
        run_services.prepare(run_services.NAMES)
        try:
            cast = stage.people()
            contract = stage.contract(cast)
            services = run_services.services(run_services.NAMES)
            with supervisor.running(services, revive=run_services.reviver(), say=self._say, log=LOG):
                supervisor.wait_listening(settings.BIND)
                self._play(contract, cast)
                if not options["once"]:
                    supervisor.wait_for_signal()
        except (supervisor.SupervisorError, Refused, TimeoutError) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self._say("Stopped.")

    def _play(self, contract: Contract, cast: stage.Cast) -> None:
        people = {name: user for name, (user, _) in cast.items()}
        self._say(f"{contract.name}: a survey of 1991 as {contract.dataset.name}, rho {contract.rho_total / 10**12:g} in all\n")
        self._say(playing.header())
        playing.play(contract, people, script.ROUND, self._say)
        stage.leave(contract, cast, script.REST)
        self._say(f"\nCarol leaves {script.REST} rho to each; the next two questions need more than that.")
        playing.play(contract, people, script.SCARCE, self._say)
        self._say("The rare group is harder to know: it weighs more and gets more of what is left.")
        stage.ask_for_more(contract, cast)
        self._say("Bob asks for 0.02 rho more: Carol finds it under Requests.\n")
        self._passwords(cast)
        self._say(playing.summary(contract))

    def _passwords(self, cast: stage.Cast) -> None:
        self._say(f"http://{settings.BIND}/ (passwords are drawn anew by every demo; services write to {LOG})")
        for name, (user, password) in cast.items():
            self._say(f"  {name:<6} {', '.join(user.roles):<8} password {password}")

    def _say(self, line: object) -> None:
        self.stdout.write(str(line))
        self.stdout.flush()
