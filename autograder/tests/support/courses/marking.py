"""The page on which a grader marks written answers, driven like a browser: in this process, or in
JupyterLab.
"""

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

from websocket import WebSocket, create_connection

from autograder.benchmarks.support.browser.harness import SECONDS, TOKEN, serve
from autograder.course_folder import CourseFolder
from autograder.dashboard.marking.page import Marking, mark_answers

OPEN_PAGE = "from autograder.dashboard.marking.page import mark_answers\npage = mark_answers({!r})"


def opened(course: CourseFolder, study: str = "study2") -> Marking:
    """A grader's page that records the messages it sends."""
    page = mark_answers(study, course=course.root)
    page.sent = []
    page.send = lambda content, buffers=None: page.sent.append(content)
    return page


def ask(page: Marking, do: str, student: str | None = None, **content) -> list[dict]:
    """Send the browser's message about one student's answer; return the response."""
    page.sent.clear()
    if student:
        content["id"] = key(page, student)
    page._dispatch(page, {"do": do, **content}, [])
    return list(page.sent)


def key(page: Marking, student: str) -> str:
    """The page's key for a student's answer."""
    return next(a.id for a in page._answers.values() if a.student == student)


def read(page: Marking, *students: str) -> None:
    """Let the answers of these students come into view, by default of all."""
    students = students or tuple({a.student: a for a in page._answers.values()})
    ask(page, "text", ids=[key(page, student) for student in students])


def mark_in_lab(
    course: Path, private: Path, study: str, cell: tuple[str, str], points: Mapping[str, float]
) -> None:
    """Give points for the answers of these students, by name, on the page in JupyterLab.

    JupyterLab is started on the course folder, and receives the messages that `page.js` sends.
    """
    with serve(course, private) as lab:
        headers = {"Authorization": f"token {TOKEN}"}
        request = Request(f"{lab.url}/api/kernels", b"{}", headers)
        with urlopen(request, timeout=SECONDS) as response:
            channels = f"{lab.url}/api/kernels/{json.load(response)['id']}/channels"
        address = channels.replace("http", "ws", 1)
        with closing(create_connection(address, SECONDS, header=headers)) as kernel:
            code = {"code": OPEN_PAGE.format(study), "silent": False, "allow_stdin": False}
            (comm,) = {
                message["comm_id"]
                for message in _send(kernel, "execute_request", code)
                if "view" in message.get("data", {}).get("state", {})
            }

            def request_page(**content: Any) -> list[dict[str, Any]]:
                data = {"comm_id": comm, "data": {"method": "custom", "content": content}}
                return [message.get("data", {}) for message in _send(kernel, "comm_msg", data)]

            request_page(do="question", cell=cell)
            (view,) = (
                data["state"]["view"]
                for data in request_page(do="anonymous", on=False)
                if "state" in data
            )
            ids = {line["who"].partition(" (")[0]: line["id"] for line in view["answers"]}
            for name, number in points.items():
                request_page(do="text", ids=[ids[name]])
                replies = request_page(do="grade", id=ids[name], points=number)
                assert {"message": "saved", "id": ids[name], "wrong": False} in [
                    reply.get("content") for reply in replies
                ]


def _send(kernel: WebSocket, kind: str, content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Send a message, and return the contents of the kernel's messages until it is idle."""
    number = uuid4().hex
    header = {
        "msg_id": number,
        "session": number,
        "msg_type": kind,
        "username": "",
        "version": "5.3",
    }
    message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}}
    kernel.send(json.dumps(message | {"content": content, "buffers": []}))
    contents: list[dict[str, Any]] = []
    while not contents or contents[-1].get("execution_state") != "idle":
        received = json.loads(kernel.recv())
        if received["parent_header"].get("msg_id") == number:
            assert received["msg_type"] != "error", received["content"]
            contents.append(received["content"])
    return contents
