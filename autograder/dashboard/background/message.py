"""Shows a message below a button of the overview: a result, a question, or the progress of a
command.

The result comes first. Below it is the command's output, which is folded unless it needs attention.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from autograder.errors import UserError, format_error

HERE = Path(__file__).parent
_numbers = count(1)  # a message with a new number is scrolled into view


class Message(anywidget.AnyWidget):
    """Shows one message at a time, and is hidden while there is none.

    `view` contains the text, the kind ("running", "done", "failed", "refused" or "question"), and
    the progress, buttons, link and output that belong to the message.
    """

    _esm = HERE / "message.js"
    _css = HERE / "message.css"
    view = traitlets.Dict().tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self._actions: Mapping[str, Callable[[], object]] = {}
        self.on_msg(self._clicked)

    @property
    def text(self) -> str:
        """The sentence that is shown; empty if there is none."""
        return self.view.get("text", "")

    @property
    def kind(self) -> str:
        """The kind of message that is shown; empty if there is none."""
        return self.view.get("kind", "")

    def clear(self) -> None:
        """Show nothing."""
        self._actions, self.view = {}, {"number": self.view.get("number", 0)}

    def refuse(self, error: Exception, *, here: bool = True) -> None:
        """Show in one sentence why something was not done. If `here`, bring the message into view."""
        text = sentence(str(error) if isinstance(error, UserError) else format_error(error))
        number = {} if here else {"number": self.view.get("number", 0)}
        self.show("refused", text, **number)

    def ask(self, question: str, yes: str, work: Callable[[], object]) -> None:
        """Show a question; clicking the button labelled `yes` runs `work`."""

        def confirmed() -> None:
            self.clear()
            work()

        self.show(
            "question",
            question,
            buttons=[("yes", yes), ("no", "Cancel")],
            actions={"yes": confirmed, "no": self.clear},
        )

    def show(
        self,
        kind: str,
        text: str,
        *,
        actions: Mapping[str, Callable[[], object]] | None = None,
        **more: Any,
    ) -> None:
        """Show a message and bring it into view; `actions` are the functions of its buttons."""
        self._actions = actions or {}
        self.view = {"number": next(_numbers), "kind": kind, "text": text, **more}

    def update(self, **more: Any) -> None:
        """Change parts of the message in place."""
        self.view = self.view | more

    def click(self, name: str) -> None:
        """Run the action of a button of the message, unless the button is no longer shown."""
        if work := self._actions.get(name):
            try:
                work()
            except Exception as error:  # otherwise, it would appear only in the kernel's log
                self.refuse(error)

    def _clicked(self, _widget: object, content: Any, _buffers: Sequence[object]) -> None:
        self.click(content.get("do", ""))


def sentence(text: str) -> str:
    """Return a text with a capital letter at the beginning and a full stop at the end."""
    text = text.strip()
    if text and text[-1] not in ".!?":
        text += "."
    return text[:1].upper() + text[1:]
