"""JupyterHub for one class: graders with the kit and its answers, students with theirs, apart.

README.md, beside this file, says how the folders come about that are named here.
"""

import grp
import os
import pwd
from pathlib import Path

c = get_config()  # noqa: F821 - JupyterHub runs this file, and gives it

PLACE = Path(os.environ.get("CLASS_PLACE", "/srv/class"))
STAFF = Path(os.environ.get("CLASS_STAFF", PLACE / "staff/.venv"))  # only the graders can read it
STUDENTS = Path(os.environ.get("CLASS_STUDENTS", PLACE / "students/.venv"))
COURSE = PLACE / "course"
HUB = PLACE / "hub"  # what the hub keeps: who is in, tokens, the cookies' secret
GRADERS = os.environ.get("CLASS_GRADERS", "graders")  # a group of the system

HUB.mkdir(mode=0o700, exist_ok=True)
HUB.chmod(0o700)  # JupyterHub leaves its database readable to everybody
c.JupyterHub.db_url = f"sqlite:///{HUB / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(HUB / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(HUB / "proxy.pid")

# Who may come in: here, whoever has an account on this machine. For others change this line.
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.JupyterHub.cleanup_servers = True
c.Spawner.default_url = "/lab"
c.Spawner.env_keep = ["LANG", "LC_ALL", "TZ"]  # no path of the hub's own reaches a student


def prepare(spawner) -> None:
    """Give graders the staff's environment and the course, students theirs and their own folder."""
    name = spawner.user.name
    grades = name in grp.getgrnam(GRADERS).gr_mem
    environment = STAFF if grades else STUDENTS
    # What a grader writes is the group's, and nobody else's; what a student writes is their own.
    umask = "007" if grades else "077"
    folder = str(COURSE) if grades else pwd.getpwnam(name).pw_dir
    # nbgrader reads its configuration in the folder where the server is started.
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
    }  # a class shares the machine's cores


c.Spawner.pre_spawn_hook = prepare
