"""JupyterHub for one class: graders use the kit with its answers, and students the student kit.

README.md, next to this file, explains how to create the folders that are named here.
"""

import grp
import os
import pwd
from pathlib import Path

c = get_config()  # noqa: F821 - defined by JupyterHub, which runs this file

PLACE = Path(os.environ.get("CLASS_PLACE", "/srv/class"))
STAFF = Path(os.environ.get("CLASS_STAFF", PLACE / "staff/.venv"))  # only the graders can read it
STUDENTS = Path(os.environ.get("CLASS_STUDENTS", PLACE / "students/.venv"))
COURSE = PLACE / "course"
HUB = PLACE / "hub"  # the hub's data: sessions, tokens, the cookie secret
GRADERS = os.environ.get("CLASS_GRADERS", "graders")  # a group of the system

HUB.mkdir(mode=0o700, exist_ok=True)
HUB.chmod(0o700)  # JupyterHub makes its database readable by all users
c.JupyterHub.db_url = f"sqlite:///{HUB / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(HUB / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(HUB / "proxy.pid")

# All users with an account on this machine may log in. Change this line for another method.
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.JupyterHub.cleanup_servers = True
c.Spawner.default_url = "/lab"
c.Spawner.env_keep = ["LANG", "LC_ALL", "TZ"]  # students' servers do not inherit the hub's paths


def prepare(spawner) -> None:
    """Start graders in the staff's environment and the course folder, students in theirs and their
    home folder."""
    name = spawner.user.name
    grades = name in grp.getgrnam(GRADERS).gr_mem
    environment = STAFF if grades else STUDENTS
    # The group can read and change what a grader writes; a student's files are private.
    umask = "007" if grades else "077"
    folder = str(COURSE) if grades else pwd.getpwnam(name).pw_dir
    # nbgrader reads its configuration from the folder in which the server is started.
    spawner.cmd = [
        "/bin/sh",
        "-c",
        f'umask {umask}; cd "$0" && exec "$@"',
        folder,
        str(environment / "bin/python"),
        "-P",
        "-m",
        "jupyterhub.singleuser",
    ]
    spawner.notebook_dir = folder
    spawner.environment = {
        "PATH": f"{environment / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }  # because a class shares the machine's cores


c.Spawner.pre_spawn_hook = prepare
