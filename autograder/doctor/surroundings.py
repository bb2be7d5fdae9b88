"""Says what is wrong with this environment or with a course folder, and how to mend it."""

import os
import shutil
from collections.abc import Iterator

from autograder.course_folder import CONFIG_FILE, CourseFolder, put_environment_on_path


def environment() -> Iterator[str]:
    """What is wrong with the environment, in sentences that say what to do."""
    put_environment_on_path()
    for program in ("alembic", "jupyter"):
        if shutil.which(program) is None:
            yield (f"{program} is not on PATH, and nbgrader calls it by name: "
                   "start through `python3 run.py`, or activate the environment")


def exchange(folder: CourseFolder) -> Iterator[str]:
    """What is wrong with the folder through which nbgrader takes submissions, if anything."""
    where = folder.exchange()
    if not where.is_dir():
        wrong, cure = "missing", f"mkdir -p {where}"
    elif not os.access(where, os.W_OK | os.X_OK):
        wrong, cure = "not writable", f"chmod ugo+rwx {where}"
    else:
        return
    yield (f"the exchange folder {where} is {wrong}, so nothing can be released to students or "
           f"collected from them in the browser: {cure}, or name another folder as "
           f"c.Exchange.root in {folder.root / CONFIG_FILE}")
