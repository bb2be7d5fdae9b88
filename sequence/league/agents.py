"""Agents by name: where a class stands, what it is made with, and what it is called in the league.

    Greedy                                  a class of `sequence`
    sequence.ismcts:ISMCTS(iterations=100)  a class of a module, with arguments
    folder/my_agent.py:MyAgent              a class of a file
    folder/my_agent.py                      the only class with a method `choose` in it
    me=folder/my_agent.py                   the same under a name of its own
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from sequence.league.wire import clean

GIVEN = "sequence"  # where a class named without a module stands
HERE = Path(__file__).parent
# Arguments begin like `(name=`, so that a folder may have parentheses in its name.
SPEC = re.compile(r"(?:(?P<name>[^=:/\\()]+)=)?(?P<where>.+?)(?::(?P<cls>[A-Za-z_]\w*))?"
                  r"(?P<arguments>\((?:\s*\w+\s*=.*)?\))?", re.DOTALL)


class LeagueError(ValueError):
    """Agents, settings or a folder with which no league can be played; the message is one sentence.
    """


@dataclass(frozen=True)
class Spec:
    """An agent that can be made as often as it is needed.

    `where` is a module or a file, `cls` a class in it or "" for the only one, `options` its
    keyword arguments. `made_by` is the class itself where it was given as such.
    """

    name: str
    where: str
    cls: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    made_by: Callable | None = None

    @property
    def is_file(self) -> bool:
        """Whether `where` is a file and not a module."""
        return self.where.endswith(".py") or "/" in self.where or "\\" in self.where

    @property
    def slug(self) -> str:
        """The name as a part of file names."""
        return re.sub(r"[^\w.=-]+", "_", self.name).strip("_")

    @property
    def text(self) -> str:
        """The text that `parse` reads as the same agent, its name left out."""
        return f"{self.where}{':' if self.cls else ''}{self.cls}{_arguments(self.options)}"

    def settings(self) -> dict[str, str]:
        """What must be the same when a league is taken up again: a file by its content."""
        if not self.is_file:
            return {"name": self.name, "agent": self.text}
        path = Path(self.where)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return {"name": self.name, "agent": replace(self, where=path.name).text, "sha256": digest}


def spec(agent: Any) -> Spec:
    """The agent of a text as above, of a class, or of a `functools.partial` of one.

    Raises `LeagueError` for what is none of these, and for a file that is not there. Nothing of the
    agent is imported here.
    """
    if isinstance(agent, Spec):
        return agent
    if isinstance(agent, str):
        return parse(agent)
    options: dict[str, Any] = {}
    made_by = agent
    if isinstance(agent, partial) and not agent.args:
        made_by, options = agent.func, agent.keywords
    if not isinstance(made_by, type):
        raise LeagueError(f"an agent is given as a class or as a text like 'file.py:Class(depth=2)'"
                          f", not as {clean(repr(agent))}: every game makes its own")
    named = made_by.__name__ + _arguments(options.items())
    return Spec(named, made_by.__module__, made_by.__qualname__, tuple(options.items()), made_by)


def parse(text: str) -> Spec:
    """The agent of a text; raises `LeagueError` for a text of another form."""
    match = SPEC.fullmatch(text.strip())
    if match is None:
        raise LeagueError(f"{text!r} names no agent; agents are like 'Greedy', 'module:Class', "
                          "'file.py', 'file.py:Class(depth=2)' or 'name=file.py'")
    where, cls = match["where"], match["cls"] or ""
    options = _options(match["arguments"] or "()", text)
    if where.isidentifier() and not cls:
        where, cls = GIVEN, where
    found = Spec("", where, cls, options)
    if found.is_file and not Path(where).is_file():
        raise LeagueError(f"there is no file {where!r}, which agent {text!r} names")
    if not found.is_file and not all(part.isidentifier() for part in where.split(".")):
        raise LeagueError(f"{where!r} of agent {text!r} is neither a module nor a file that ends "
                          "in .py")
    name = match["name"] or (cls or Path(where).stem) + _arguments(options)
    return replace(found, name=name.strip())


def specs(agents: Sequence[Any]) -> tuple[Spec, ...]:
    """The agents of a league; raises `LeagueError` unless there are two or more of unlike names."""
    found = tuple(spec(agent) for agent in agents)
    if len(found) < 2:
        raise LeagueError(f"a league needs two agents or more, not {len(found)}")
    names = [agent.slug.lower() for agent in found]
    for agent in found:
        if not agent.slug:
            raise LeagueError(f"{agent.name!r} cannot be the name of an agent: it has no letter")
        if names.count(agent.slug.lower()) > 1:
            raise LeagueError(f"two agents are called {agent.name!r}: give one another name, like "
                              f"'second={agent.text}'")
    return found


def make(agent: Spec) -> Any:
    """A new agent; this runs its code, so for the others' agents it is done in their processes.

    Raises `LeagueError` if the text names no class that can be made so, and whatever the agent's
    own code raises.
    """
    found, options = agent.made_by or _class(agent), dict(agent.options)
    try:
        inspect.signature(found).bind(**options)
    except (TypeError, ValueError) as error:
        raise LeagueError(f"{agent.text} cannot be made: {error}") from error
    return found(**options)


def describe(error: BaseException) -> str:
    """The error in one line, with the last line of the agent's own code that it passed."""
    try:
        text = f"{error!s:.300}"
    except BaseException:  # its own __str__ is broken
        text = "(its message cannot be shown)"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if HERE not in Path(frame.filename).parents and not frame.filename.startswith("<")]
    where = f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})" if frames else ""
    return clean(f"{type(error).__name__}{': ' if text else ''}{text}{where}")


def _options(arguments: str, text: str) -> tuple[tuple[str, Any], ...]:
    try:
        call = ast.parse(f"f{arguments}", mode="eval").body
        return tuple((keyword.arg, ast.literal_eval(keyword.value)) for keyword in call.keywords
                     if keyword.arg)
    except (SyntaxError, ValueError, AttributeError) as error:
        raise LeagueError(f"the arguments of agent {text!r} are not of the form name=value with "
                          "plain values") from error


def _arguments(options) -> str:
    pairs = ", ".join(f"{name}={value!r}" for name, value in options)
    return f"({pairs})" if pairs else ""


def _class(agent: Spec) -> type:
    module = _file(Path(agent.where).resolve()) if agent.is_file else _module(agent.where)
    if agent.cls:
        found = getattr(module, agent.cls, None)
        if not callable(getattr(found, "choose", None)):
            raise LeagueError(f"{agent.where} has no class {agent.cls} with a method choose")
        return found
    classes = [value for value in vars(module).values()
               if isinstance(value, type) and value.__module__ == module.__name__
               and callable(getattr(value, "choose", None))]
    if len(classes) != 1:
        names = f" ({', '.join(found.__name__ for found in classes)})" if classes else ""
        raise LeagueError(f"{agent.where} has {len(classes)} classes with a method choose{names}: "
                          "name one, like 'file.py:Class'")
    return classes[0]


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):  # and not one that the agent itself imports
            raise LeagueError(f"there is no module {name!r}") from error
        raise


@cache
def _file(path: Path) -> ModuleType:
    sys.path.append(str(path.parent))  # last: side files are found, and shadow nothing installed
    name = f"agent_{path.stem}" if path.stem in sys.modules else path.stem
    found = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module
