"""Where a test session's files go: into memory where there is plenty, because every test makes and drops a database."""

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
PLENTY = 4 << 30  # bytes; a session keeps a few databases of some 10 MB at a time


def session_folder() -> Path:
    """Make a folder for one test session; everybody may walk through it, as the embedded server's account has to for root."""
    folder = Path(tempfile.mkdtemp(prefix="rdp-tests-", dir=MEMORY if _is_fit(MEMORY) else None))
    folder.chmod(0o711)
    return folder


def _is_fit(folder: Path) -> bool:
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    can_run_programs = not os.statvfs(folder).f_flag & os.ST_NOEXEC
    return can_run_programs and shutil.disk_usage(folder).free >= PLENTY
