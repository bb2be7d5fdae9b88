"""The message below a button of the overview: its result, a question, or the progress of a command.

The result comes first; below it is what the command printed, folded unless it needs a look.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from autograder.errors import Refused, in_words

HERE = Path(__file__).parent
_numbers = count(1)  # a message with a new number is scrolled into view


class Message(anywidget.AnyWidget):
    """One message at a time, hidden while there is none.

    `shown` has its text, kind ("running", "done", "failed", "refused" or "question"), and the
    progress, buttons, link and output that belong to it.
    """

    _esm = HERE / "message.js"
    _css = HERE / "message.css"
    shown = traitlets.Dict().tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self._actions: Mapping[str, Callable[[], object]] = {}
        self.on_msg(self._clicked)

    @property
    def text(self) -> str:
        """The sentence that is shown; empty if there is none."""
        return self.shown.get("text", "")

    @property
    def kind(self) -> str:
        """The kind of message that is shown; empty if there is none."""
        return self.shown.get("kind", "")

    def clear(self) -> None:
        """Show nothing."""
        self._actions, self.shown = {}, {"number": self.shown.get("number", 0)}

    def refuse(self, error: Exception, *, here: bool = True) -> None:
        """Show why something was not done, in one sentence; `here` brings it into view."""
        said = sentence(str(error) if isinstance(error, Refused) else in_words(error))
        number = {} if here else {"number": self.shown.get("number", 0)}
        self.tell("refused", said, **number)

    def ask(self, question: str, yes: str, work: Callable[[], object]) -> None:
        """Show a question; `work` is done if the button labelled `yes` is clicked."""

        def confirmed() -> None:
            self.clear()
            work()

        self.tell(
            "question",
            question,
            buttons=[("yes", yes), ("no", "Cancel")],
            actions={"yes": confirmed, "no": self.clear},
        )

    def tell(
        self,
        kind: str,
        text: str,
        *,
        actions: Mapping[str, Callable[[], object]] | None = None,
        **more: Any,
    ) -> None:
        """Show a message and bring it into view; `actions` are what its buttons do."""
        self._actions = actions or {}
        self.shown = {"number": next(_numbers), "kind": kind, "text": text, **more}

    def update(self, **more: Any) -> None:
        """Change parts of the message where it is."""
        self.shown = self.shown | more

    def click(self, name: str) -> None:
        """Do what a button of the message does; nothing if it is no longer shown."""
        if work := self._actions.get(name):
            try:
                work()
            except Exception as error:  # otherwise it would appear only in the kernel's log
                self.refuse(error)

    def _clicked(self, _widget: object, content: Any, _buffers: Sequence[object]) -> None:
        self.click(content.get("do", ""))


def sentence(text: str) -> str:
    """A text with a capital letter and a full stop."""
    text = text.strip()
    if text and text[-1] not in ".!?":
        text += "."
    return text[:1].upper() + text[1:]
