"""A JupyterHub for tests, set up with `deploy/`: system users, folders and their servers.

Only root can create users. They are removed with their processes and their folders.
"""

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import psutil
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from autograder.benchmarks.support.browser.harness import KIT, wait_until
from autograder.benchmarks.support.cluster import free_port
from autograder.course_folder import CONFIG_FILE, CourseFolder
from autograder.release.assignments import generate_assignment
from autograder.release.kit import make_kit
from autograder.tests.support.needs import need, need_module, need_program
from course.checks import Study

DEPLOY = KIT / "deploy"
WHY = "nothing shows that a class can work on a hub"
RIGHTS = ("install -d -g", "chgrp -R", "find course")  # prefixes of the guide's lines
PACKAGES = ("autograder", "common", "course", "sequence", "tictactoe")
SECONDS = 300  # for any request to a server
# deploy/'s configuration with different users, free ports, and the test's folders.
CONFIG = """
import os
os.environ |= {places!r}
c = get_config()
load_subconfig({shipped!r})
prepare = c.Spawner.pre_spawn_hook
def in_this_place(spawner):
    prepare(spawner)
    if spawner.user.name in {graders!r}:
        spawner.environment["PYTHONPATH"] = {staff!r}
c.Spawner.pre_spawn_hook = in_this_place
c.Spawner.start_timeout = c.Spawner.http_timeout = {seconds}
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.bind_url = {url!r}
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.cleanup_servers = False  # they end with their users
c.ConfigurableHTTPProxy.api_url = {proxy!r}
c.JupyterHub.services = [{{"name": "test", "api_token": {token!r}}}]
c.JupyterHub.load_roles = [{{"name": "test", "services": ["test"], "scopes": [
    "admin:users", "admin:servers", "access:servers"]}}]
"""


def guide_lines(*begin: str) -> list[str]:
    """The lines of the guide's commands that start this way: each prefix occurs once, in order."""
    guide = (DEPLOY / "README.md").read_text("utf-8").splitlines()
    lines = [line for line in guide if line.startswith(begin)]
    assert len(lines) == len(begin) and all(map(str.startswith, lines, begin)), lines
    return lines


class Hub:
    """A class on a hub, by its folder: `course`, `staff` (the kit), `students`, `exchange`."""

    def __init__(self, place: Path, students: Sequence[str], graders: Sequence[str]) -> None:
        self.place, self.group = place, f"graders{secrets.token_hex(3)}"
        self.students, self.graders = students, graders
        self.database = place / "hub/jupyterhub.sqlite"
        self.url, self._token = f"http://127.0.0.1:{free_port()}", secrets.token_hex(16)

    def make_users(self) -> None:
        """Create the system users, with private homes, and the graders' group."""
        _run("groupadd", self.group)
        for name in (*self.students, *self.graders):
            also = ["-G", self.group] if name in self.graders else []
            _run("useradd", "-M", "-d", self.home(name), *also, name)
            self.home(name).mkdir(mode=0o700)
            shutil.chown(self.home(name), name, name)

    def remove_users(self) -> None:
        """End the users' processes, then remove the users."""
        for process in psutil.process_iter(["username"]):
            if process.info["username"] in (*self.students, *self.graders):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
                    process.wait(10)
        for name in (*self.students, *self.graders):
            subprocess.run(["userdel", name], check=False, capture_output=True)
        subprocess.run(["groupdel", self.group], check=False, capture_output=True)

    def home(self, name: str) -> Path:
        """The home of a user."""
        return self.place / name

    def make_staff(self, study: Study) -> CourseFolder:
        """The staff's copy of the kit, and the course with one release, accessible to graders only."""
        staff = self.place / "staff"
        for name in PACKAGES:
            shutil.copytree(KIT / name, staff / name, ignore=shutil.ignore_patterns("__pycache__"))
        root = self.place / "course"
        root.mkdir()
        text = (DEPLOY / CONFIG_FILE).read_text("utf-8")
        assert text.count("/srv/class") == 1
        (root / CONFIG_FILE).write_text(text.replace("/srv/class", str(self.place)), "utf-8")
        course = CourseFolder.open(root)
        generate_assignment(course, study)
        for line in guide_lines(*RIGHTS):
            _run("sh", "-ec", f"cd {self.place}; {line.replace('graders', self.group)}")
        return course

    def make_students(self, course: CourseFolder, study: Study) -> None:
        """The student kit, in an environment that uses the packages of the tests' environment."""
        archive = make_kit([study], self.place / "kit.zip").path
        with zipfile.ZipFile(archive) as kit:
            kit.extractall(self.place)
        kit = next(self.place.glob("adversarial-search*/")).rename(self.place / "students")
        environment = kit / ".venv"
        _run(sys.executable, "-m", "venv", "--without-pip", environment)
        site = next(environment.glob("lib/python3*/site-packages"))
        (site / "class.pth").write_text(f"{kit}\n{sysconfig.get_path('purelib')}\n", "utf-8")
        for folder in ("etc/jupyter", "share/jupyter"):
            shutil.copytree(Path(sys.prefix, folder), environment / folder)
        jupyter = kit / "course/jupyter"
        for folder in ("labconfig", "jupyter_server_config.d", "students"):  # as in the guide
            target = environment / "etc/jupyter" / ("" if folder == "students" else folder)
            shutil.copytree(jupyter / folder, target, dirs_exist_ok=True)
        settings = environment / "etc/jupyter/nbgrader_config.json"
        settings.write_text(course.student_settings(), "utf-8")
        _run("chmod", "-R", "a+rX", kit)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """The hub, and a server for each user."""
        config, log = self.place / "hub_config.py", self.place / "hub.log"
        config.write_text(
            CONFIG.format(
                places={
                    "CLASS_PLACE": str(self.place),
                    "CLASS_STAFF": sys.prefix,
                    "CLASS_GRADERS": self.group,
                },
                shipped=str(DEPLOY / "jupyterhub_config.py"),
                graders=list(self.graders),
                staff=str(self.place / "staff"),
                seconds=SECONDS,
                url=self.url,
                hub_port=free_port(),
                proxy=f"http://127.0.0.1:{free_port()}",
                token=self._token,
            ),
            "utf-8",
        )
        config.chmod(0o600)
        with log.open("w") as file:
            hub = subprocess.Popen(
                [sys.executable, "-P", "-m", "jupyterhub", "-f", config],
                cwd=self.place,
                stdout=file,
                stderr=file,
            )
        try:
            wait_until(lambda: self._answers(hub, log), "the hub did not start")
            with ThreadPoolExecutor() as at_once:
                list(at_once.map(self._start, (*self.students, *self.graders)))
            assert self.database.is_file(), "the hub keeps its database elsewhere"
            yield
        finally:
            hub.terminate()
            try:
                hub.wait(60)
            except subprocess.TimeoutExpired:
                hub.kill()
                hub.wait()

    def ask(self, path: str, data: Any = None, method: str | None = None) -> Any:
        """The response of the hub or of a user's server; data is sent by POST."""
        request = Request(
            self.url + path,
            None if data is None else json.dumps(data).encode(),
            {"Authorization": f"token {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        with urlopen(request, timeout=SECONDS) as answer:
            text = answer.read().decode()
        return json.loads(text) if text else None

    def run(self, user: str, code: str) -> str:
        """The output of a kernel on the user's server, or its error."""
        kernel = self.ask(f"/user/{user}/api/kernels", {"name": "python3"})["id"]
        try:
            return asyncio.run(self._run(f"/user/{user}/api/kernels/{kernel}/channels", code))
        finally:
            self.ask(f"/user/{user}/api/kernels/{kernel}", method="DELETE")

    async def _run(self, path: str, code: str) -> str:
        kernel = await websocket_connect(
            HTTPRequest(
                self.url.replace("http", "ws") + path,
                headers={"Authorization": f"token {self._token}"},
            )
        )
        number, said, left = uuid.uuid4().hex, "", {"execute_reply", "idle"}
        await kernel.write_message(
            json.dumps(
                {
                    "channel": "shell",
                    "buffers": [],
                    "parent_header": {},
                    "metadata": {},
                    "header": {
                        "msg_id": number,
                        "session": number,
                        "msg_type": "execute_request",
                        "username": "",
                        "version": "5.3",
                    },
                    "content": {
                        "code": code,
                        "silent": False,
                        "store_history": False,
                        "user_expressions": {},
                        "allow_stdin": False,
                    },
                }
            )
        )
        while left:
            message = json.loads(await asyncio.wait_for(kernel.read_message(), SECONDS))
            kind, content = message["msg_type"], message["content"]
            if message["parent_header"].get("msg_id") != number:
                continue
            if kind == "stream":
                said += content["text"]
            elif kind == "display_data":
                said += content["data"]["text/plain"] + "\n"
            elif kind == "error":
                said += f"{content['ename']}: {content['evalue']}"
            left -= {kind, content.get("execution_state")}
        kernel.close()
        while await kernel.read_message() is not None:  # until it is closed
            pass
        return said

    def _answers(self, hub: subprocess.Popen, log: Path) -> bool:
        assert hub.poll() is None, log.read_text("utf-8")
        try:
            return bool(self.ask("/hub/api/"))
        except (URLError, OSError, ValueError):
            return False

    def _start(self, user: str) -> None:
        self.ask(f"/hub/api/users/{user}", {})
        self.ask(f"/hub/api/users/{user}/server", {})
        wait_until(
            lambda: self.ask(f"/hub/api/users/{user}")["servers"].get("", {}).get("ready"),
            f"the server of {user} did not start",
        )


@contextlib.contextmanager
def class_on_a_hub(study: Study, students: Sequence[str], graders: Sequence[str]) -> Iterator[Hub]:
    """A running hub with these users; skips the test if it cannot be started."""
    need(hasattr(os, "geteuid") and os.geteuid() == 0, f"only root can make users: {WHY}")
    need_module("jupyterhub", WHY)
    for program in ("configurable-http-proxy", "useradd"):
        need_program(program, WHY)
    place = Path(tempfile.mkdtemp(prefix="hub-"))  # users cannot enter pytest's
    place.chmod(0o755)
    hub = Hub(place, students, graders)
    try:
        hub.make_users()
        try:
            can = (
                subprocess.run(
                    [sys.executable, "-c", "import numpy"],
                    user=students[0],
                    cwd="/",
                    check=False,
                    capture_output=True,
                ).returncode
                == 0
            )
        except PermissionError:
            can = False
        need(can, f"other users cannot run the Python of {sys.prefix}: {WHY}")
        course = hub.make_staff(study)
        hub.make_students(course, study)
        with hub.running():
            yield hub
    finally:
        hub.remove_users()
        shutil.rmtree(place)


def _run(*command) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
