"""`manage.py run_services [web] [worker] [beat]`: run the product until Ctrl-C or SIGTERM; all three when none is named."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from rdp_site import postgres, supervisor
from rdp_site.environment import VAR, ensure_secrets, is_embedded
from rdp_site.installation import CannotInstall, check_durability

NAMES = ("web", "worker", "beat")


class Command(BaseCommand):
    """Start the services, restart them when they end, stop them in order."""

    help = "Run web server, worker and clock (and the embedded database) until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        """Which services."""
        parser.add_argument("services", nargs="*", choices=[*NAMES, []], help="web, worker, beat (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until a signal ends it."""
        names = options["services"] or NAMES
        prepare(names)
        try:
            with supervisor.running(services(names), revive=reviver(), say=self.stdout.write):
                if "web" in names:
                    self.stdout.write(f"Serving http://{settings.BIND} until Ctrl-C.")
                supervisor.wait_for_signal()
        except supervisor.SupervisorError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.stdout.write("Stopped.")


def prepare(names: tuple[str, ...] | list[str]) -> None:
    """See to what every service needs: stored secrets, a database that keeps what it acknowledges, collected files."""
    ensure_secrets()
    try:
        check_durability()
    except CannotInstall as error:
        raise CommandError(str(error)) from error
    if "web" in names:
        call_command("collectstatic", interactive=False, verbosity=0)


def services(names: tuple[str, ...] | list[str]) -> list[supervisor.Service]:
    """The services of these names, with the sizes from the settings."""
    made = {
        "web": supervisor.web(settings.BIND),
        "worker": supervisor.worker(settings.WORKERS, patience=settings.WORKER_PATIENCE, sweep=settings.SWEEP_SECONDS),
        "beat": supervisor.beat(),
    }
    return [made[name] for name in names]


def reviver() -> Callable[[], object]:
    """What the supervisor calls again and again to keep the embedded database alive."""
    if not is_embedded():
        return lambda: None
    cluster = postgres.existing(VAR)
    return lambda: postgres.revive(cluster)
