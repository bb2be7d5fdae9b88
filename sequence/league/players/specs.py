"""How agents are named in a league: where the class is, its arguments, and the name to show.

Greedy                                  a class of `sequence`
sequence.agents.ismcts:ISMCTS(iterations=100)  a class of a module, with arguments
folder/my_agent.py:MyAgent              a class of a file
folder/my_agent.py                      the only class with a method `choose` in it
me=folder/my_agent.py                   the same under a name of its own
"""

import ast
import hashlib
import importlib
import importlib.util
import inspect
import random
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.machinery import PathFinder
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from sequence.league.wire import clean

GIVEN = "sequence"  # where a class named without a module is found
MAX_SLUG = 100  # bytes: file systems take names of 255, and a replay has two agents in its name
_LOADING = RLock()  # a file is loaded once, even if several games ask for it at the same moment
# Arguments begin like `(name=`, so that a folder may have parentheses in its name.
SPEC = re.compile(
    r"(?:(?P<name>[^=:/\\()]+)=)?(?P<where>.+?)(?::(?P<cls>[A-Za-z_]\w*))?"
    r"(?P<arguments>\((?:\s*\w+\s*=.*)?\))?",
    re.DOTALL,
)


class LeagueError(ValueError):
    """Agents, settings or a folder with which no league can be played; the message is one sentence."""


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
    made_by: Callable[..., Any] | None = None

    @property
    def is_file(self) -> bool:
        """Whether `where` is a file and not a module."""
        return self.where.endswith(".py") or "/" in self.where or "\\" in self.where

    @property
    def slug(self) -> str:
        """The name as a part of file names; it has no "+", which separates two of them."""
        slug = re.sub(r"[^\w.=-]+", "_", self.name).strip("_")
        return slug.encode()[:MAX_SLUG].decode(errors="ignore")

    @property
    def text(self) -> str:
        """The text that `parse` reads as the same agent, its name left out."""
        return f"{self.where}{':' if self.cls else ''}{self.cls}{_arguments(self.options)}"

    def settings(self) -> dict[str, str]:
        """What must be the same when a league is resumed; a file is compared by its content.

        So is a module, unless it belongs to this kit. What a file imports is not compared.
        """
        found = {"name": self.name, "agent": self.text}
        path: Path | None
        if self.is_file:
            path = Path(self.where)
            found["agent"] = replace(self, where=path.name).text
        else:
            path = _source(self.where)
        if path is not None:
            found["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found


def spec(agent: Any) -> Spec:
    """The agent that a text as above, a class, or a `functools.partial` of a class stands for.

    Raises `LeagueError` for anything else, and for a file that does not exist. The agent itself is
    not imported here.
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
        raise LeagueError(
            f"an agent is given as a class or as a text like 'file.py:Class(depth=2)'"
            f", not as {clean(repr(agent))}: every game makes its own"
        )
    named = made_by.__name__ + _arguments(options.items())
    return Spec(named, made_by.__module__, made_by.__qualname__, tuple(options.items()), made_by)


def parse(text: str) -> Spec:
    """The agent of a text; raises `LeagueError` for a text of another form."""
    match = SPEC.fullmatch(text.strip())
    if match is None:
        raise LeagueError(
            f"{text!r} names no agent; write it like 'Greedy', 'module:Class', "
            "'file.py', 'file.py:Class(depth=2)' or 'name=file.py'"
        )
    where, cls = match["where"], match["cls"] or ""
    options = _options(match["arguments"] or "()", text)
    if where.isidentifier() and not cls:
        where, cls = GIVEN, where
    found = Spec("", where, cls, options)
    if found.is_file and not Path(where).is_file():
        raise LeagueError(f"there is no file {where!r}, which agent {text!r} names")
    if found.is_file and not where.endswith(".py"):
        raise LeagueError(f"the file {where!r} of agent {text!r} does not end in .py")
    if not found.is_file and not all(part.isidentifier() for part in where.split(".")):
        raise LeagueError(
            f"{where!r} of agent {text!r} is neither a module nor a file that ends in .py"
        )
    name = match["name"] or (cls or Path(where).stem) + _arguments(options)
    return replace(found, name=name.strip())


def specs(agents: Iterable[Any]) -> tuple[Spec, ...]:
    """The agents of a league; raises `LeagueError` unless two or more have different names."""
    if isinstance(agents, str) or not isinstance(agents, Iterable):
        raise LeagueError(f"agents are a list, like ['Random', 'Greedy'], not {agents!r:.80}")
    found = tuple(spec(agent) for agent in agents)
    if len(found) < 2:
        raise LeagueError(f"a league needs at least two agents, not {len(found)}")
    names = [agent.slug.lower() for agent in found]
    for agent in found:
        if not agent.name.isprintable():
            raise LeagueError(
                f"{agent.name!r} cannot be the name of an agent: not all of it is printable"
            )
        if not agent.slug:
            raise LeagueError(f"{agent.name!r} cannot be the name of an agent: it has no letter")
        if names.count(agent.slug.lower()) > 1:
            raise LeagueError(
                f"two agents are called {agent.name!r}: give one another name, like "
                f"'second={agent.text}'"
            )
    return found


def make(agent: Spec) -> Any:
    """Make a new agent; this runs its code, so agents in other processes are made there.

    Raises `LeagueError` if the text names no class that can be called so, and whatever the agent's
    own code raises.
    """
    found, options = agent.made_by or _class(agent), dict(agent.options)
    try:
        inspect.signature(found).bind(**options)
    except (TypeError, ValueError) as error:
        raise LeagueError(f"{agent.text} cannot be made: {error}") from error
    return found(**options)


def begun(agent: Spec, seed: int) -> Any:
    """Make a new agent, ready for a game with that seed; raises as `make` does.

    The seed is for its `reset`, if it has one, and for the global generators of `random` and, if
    loaded by then, numpy, so that an agent that draws from these repeats its games too.
    """
    random.seed(seed)
    made = make(agent)
    if "numpy" in sys.modules:
        import numpy as np

        np.random.seed(seed % 2**32)  # numpy takes no greater seeds
    if hasattr(made, "reset"):
        made.reset(seed)
    return made


def _options(arguments: str, text: str) -> tuple[tuple[str, Any], ...]:
    try:
        call = ast.parse(f"f{arguments}", mode="eval").body  # noqa: TID251 - in the main thread
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("only name=value")
        options = {
            keyword.arg: ast.literal_eval(keyword.value)
            for keyword in call.keywords
            if keyword.arg is not None  # as that of **mapping is
        }
        if len(options) != len(call.keywords):
            raise ValueError("only name=value, each name once")
        return tuple(options.items())
    except (SyntaxError, ValueError) as error:
        raise LeagueError(
            f"the arguments of agent {text!r} are not of the form name=value, each "
            "name once, with plain values"
        ) from error


def _arguments(options: Iterable[tuple[str, Any]]) -> str:
    pairs = ", ".join(f"{name}={value!r}" for name, value in options)
    return f"({pairs})" if pairs else ""


def _class(agent: Spec) -> Callable[..., Any]:
    module = _file(Path(agent.where).resolve()) if agent.is_file else _module(agent.where)
    if agent.cls:
        found: Callable[..., Any] | None = getattr(module, agent.cls, None)
        if found is None or not callable(getattr(found, "choose", None)):
            raise LeagueError(f"{agent.where} has no class {agent.cls} with a method choose")
        return found
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and callable(getattr(value, "choose", None))
    ]
    if len(classes) != 1:
        names = f" ({', '.join(found.__name__ for found in classes)})" if classes else ""
        raise LeagueError(
            f"{agent.where} has {len(classes)} classes with a method choose{names}: "
            "name one, like 'file.py:Class'"
        )
    return classes[0]


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):  # and not one that the agent itself imports
            raise LeagueError(f"there is no module {name!r}") from error
        raise


def _source(module: str) -> Path | None:
    """The file of a module outside the kit, None where there is none; nothing is imported."""
    if module.partition(".")[0] in (GIVEN, "__main__"):
        return None
    found, places = None, None  # the places are first those of sys.path
    for part in module.split("."):
        found = PathFinder.find_spec(part, places)
        if found is None:
            return None
        places = found.submodule_search_locations
    if found is None or not found.has_location or found.origin is None:
        return None
    return Path(found.origin)


def _file(path: Path) -> ModuleType:
    with _LOADING:
        return _loaded(path)


@cache
def _loaded(path: Path) -> ModuleType:
    sys.path.append(str(path.parent))  # last: side files are found, and shadow nothing installed
    name = f"agent_{path.stem}" if path.stem in sys.modules else path.stem
    found = importlib.util.spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise ImportError(f"{path} is no file of Python code")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module
