"""Says what is wrong with this environment or with a course folder, and how to fix it."""

import os
import shutil
from collections.abc import Iterator

from autograder.course_folder import CONFIG_FILE, CourseFolder, put_environment_on_path


def environment() -> Iterator[str]:
    """Yield what is wrong with the environment, in sentences that say what to do."""
    put_environment_on_path()
    for program in ("alembic", "jupyter"):
        if shutil.which(program) is None:
            yield (f"{program}, which nbgrader calls by name, is not on PATH: "
                   "start through `python3 run.py`, or activate the environment")


def exchange(folder: CourseFolder) -> Iterator[str]:
    """Yield what is wrong with the exchange, the folder through which students hand in."""
    where = folder.exchange()
    if not where.is_dir():
        wrong, cure = "missing", f"mkdir -p {where}"
    elif not os.access(where, os.W_OK | os.X_OK):
        wrong, cure = "not writable", f"chmod ugo+rwx {where}"
    else:
        return
    yield (f"the exchange folder {where} is {wrong}, so nothing can be released to students or "
           f"collected from them in the browser: run `{cure}`, or set c.Exchange.root to another "
           f"folder in {folder.root / CONFIG_FILE}")
