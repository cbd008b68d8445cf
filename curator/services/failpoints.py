"""Places where a test may kill the process, to see that nothing is half done.

Nothing happens unless the settings say that tests run *and* the environment names the place: a stray variable on a real
machine is harmless.
"""

import os
import signal

from django.conf import settings

VARIABLE = "RDP_FAILPOINT"


def reach(name: str) -> None:
    """Die here by SIGKILL if a test asked for it; otherwise do nothing."""
    if os.environ.get(VARIABLE) == name and getattr(settings, "TESTING", False):
        os.kill(os.getpid(), signal.SIGKILL)
