"""`manage.py alerts`: what somebody should look at now; exit 1 where there is anything, for cron or a timer."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from curator.selectors.operations import alerts, site_state
from rdp_site import heartbeat


class Command(BaseCommand):
    """Prints one line per alert. Reads rows only."""

    help = "Say what needs attention: a silent worker, a long wait, a budget below a tenth, a record that contradicts itself."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was found; fail where it was anything."""
        found = alerts(site_state(timezone.now(), heartbeat.silence()), patience=settings.WORKER_PATIENCE)
        if found:
            raise CommandError("\n".join(f"{alert.code}: {alert.text}" for alert in found))
        self.stdout.write("Nothing needs attention.")
