"""How agents are specified in a league: the place of the class, its arguments and a name.

Greedy                                  a class of `sequence`
sequence.agents.ismcts:ISMCTS(iterations=100)  a class of a module, with arguments
folder/my_agent.py:MyAgent              a class of a file
folder/my_agent.py                      the only class in the file with a method `choose`
me=folder/my_agent.py                   the same with another name
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

from common.syntax import read_expression, read_literal
from sequence.league.protocol import clean

KIT_PACKAGE = "sequence"  # the package of a class that is given without a module
# Bytes: file systems allow names of 255 bytes, and the name of a replay contains two agents.
MAX_SLUG = 100
_LOADING = RLock()  # a file is loaded only once, even if several games need it at the same time
# Arguments begin like `(name=`, so that the name of a folder may contain parentheses.
SPEC = re.compile(
    r"(?:(?P<name>[^=:/\\()]+)=)?(?P<where>.+?)(?::(?P<cls>[A-Za-z_]\w*))?"
    r"(?P<arguments>\((?:\s*\w+\s*=.*)?\))?",
    re.DOTALL,
)


class LeagueError(ValueError):
    """The agents, settings or folder are invalid; the message explains why in one sentence."""


@dataclass(frozen=True)
class Spec:
    """The specification of an agent, from which any number of instances can be created.

    `where` is a module or a file, `cls` is a class in it or "" for the only class, and `options`
    contains its keyword arguments. `made_by` is the class itself if the agent was given as a class.
    """

    name: str
    where: str
    cls: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    made_by: Callable[..., Any] | None = None

    @property
    def is_file(self) -> bool:
        """Whether `where` is a file rather than a module."""
        return self.where.endswith(".py") or "/" in self.where or "\\" in self.where

    @property
    def slug(self) -> str:
        """The name as a part of file names; it contains no "+", which separates two names."""
        slug = re.sub(r"[^\w.=-]+", "_", self.name).strip("_")
        return slug.encode()[:MAX_SLUG].decode(errors="ignore")

    @property
    def text(self) -> str:
        """The text that `parse` reads as the same agent, without the name."""
        return f"{self.where}{':' if self.cls else ''}{self.cls}{_arguments(self.options)}"

    def settings(self) -> dict[str, str]:
        """The values that must be the same when a league is resumed; files are compared by content.

        So are modules, unless they belong to this kit. Files that an agent imports are not
        compared.
        """
        settings = {"name": self.name, "agent": self.text}
        path: Path | None
        if self.is_file:
            path = Path(self.where)
            settings["agent"] = replace(self, where=path.name).text
        else:
            path = _source(self.where)
        if path is not None:
            settings["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        return settings


def spec(agent: Any) -> Spec:
    """The specification from a text as above, a class or a `functools.partial` of a class.

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
            "an agent is given as a class or as a text like 'file.py:Class(depth=2)', because "
            f"every game creates a new one, not as {clean(repr(agent))}"
        )
    named = made_by.__name__ + _arguments(options.items())
    return Spec(named, made_by.__module__, made_by.__qualname__, tuple(options.items()), made_by)


def parse(text: str) -> Spec:
    """The agent that a text specifies; raises `LeagueError` for a text of another form."""
    match = SPEC.fullmatch(text.strip())
    if match is None:
        raise LeagueError(
            f"{text!r} names no agent; write it like 'Greedy', 'module:Class', "
            "'file.py', 'file.py:Class(depth=2)' or 'name=file.py'"
        )
    where, cls = match["where"], match["cls"] or ""
    options = _options(match["arguments"] or "()", text)
    if where.isidentifier() and not cls:
        where, cls = KIT_PACKAGE, where
    parsed = Spec("", where, cls, options)
    if parsed.is_file and not Path(where).is_file():
        raise LeagueError(f"there is no file {where!r}, which agent {text!r} names")
    if parsed.is_file and not where.endswith(".py"):
        raise LeagueError(f"the file {where!r} of agent {text!r} does not end in .py")
    if not parsed.is_file and not all(part.isidentifier() for part in where.split(".")):
        raise LeagueError(
            f"{where!r} of agent {text!r} is neither a module nor a file that ends in .py"
        )
    name = match["name"] or (cls or Path(where).stem) + _arguments(options)
    return replace(parsed, name=name.strip())


def specs(agents: Iterable[Any]) -> tuple[Spec, ...]:
    """The agents of a league; raises `LeagueError` unless two or more have different names."""
    if isinstance(agents, str) or not isinstance(agents, Iterable):
        raise LeagueError(f"agents must be a list, like ['Random', 'Greedy'], not {agents!r:.80}")
    contestants = tuple(spec(agent) for agent in agents)
    if len(contestants) < 2:
        raise LeagueError(f"a league needs at least two agents, not {len(contestants)}")
    names = [agent.slug.lower() for agent in contestants]
    for agent in contestants:
        if not agent.name.isprintable():
            raise LeagueError(
                f"{agent.name!r} cannot be the name of an agent: some of it is not printable"
            )
        if not agent.slug:
            raise LeagueError(f"{agent.name!r} cannot be the name of an agent: it has no letter")
        if names.count(agent.slug.lower()) > 1:
            raise LeagueError(
                f"two agents are called {agent.name!r}: give one another name, like "
                f"'second={agent.text}'"
            )
    return contestants


def make(agent: Spec) -> Any:
    """Create a new agent. This runs its code, so agents in other processes are created there.

    Raises `LeagueError` if the text names no class that can be called with these arguments, and any
    error that the agent's own code raises.
    """
    factory, options = agent.made_by or _class(agent), dict(agent.options)
    try:
        inspect.signature(factory).bind(**options)
    except (TypeError, ValueError) as error:
        raise LeagueError(f"{agent.text} cannot be created: {error}") from error
    return factory(**options)


def make_seeded(agent: Spec, seed: int) -> Any:
    """Create a new agent, ready for a game with this seed; raises the same errors as `make`.

    The seed is passed to its `reset`, if it has one, and to the global generators of `random` and,
    if it is loaded, numpy, so that an agent that uses these also repeats its games.
    """
    random.seed(seed)
    made = make(agent)
    if "numpy" in sys.modules:
        import numpy as np

        np.random.seed(seed % 2**32)  # numpy accepts no larger seeds
    if hasattr(made, "reset"):
        made.reset(seed)
    return made


def _options(arguments: str, text: str) -> tuple[tuple[str, Any], ...]:
    try:
        call = read_expression(f"f{arguments}")
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("only name=value")
        options = {
            keyword.arg: read_literal(keyword.value)
            for keyword in call.keywords
            if keyword.arg is not None  # as for **mapping
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
        named_class: Callable[..., Any] | None = getattr(module, agent.cls, None)
        if named_class is None or not callable(getattr(named_class, "choose", None)):
            raise LeagueError(f"{agent.where} has no class {agent.cls} with a method choose")
        return named_class
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and callable(getattr(value, "choose", None))
    ]
    if len(classes) != 1:
        names = f" ({', '.join(each.__name__ for each in classes)})" if classes else ""
        raise LeagueError(
            f"{agent.where} has {len(classes)} classes with a method choose{names}: "
            "name one, like 'file.py:Class'"
        )
    return classes[0]


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):  # not another module, which the agent imports
            raise LeagueError(f"there is no module {name!r}") from error
        raise


def _source(module: str) -> Path | None:
    """The file of a module outside the kit, or None; nothing is imported."""
    if module.partition(".")[0] in (KIT_PACKAGE, "__main__"):
        return None
    module_spec, places = None, None  # sys.path is searched first
    for part in module.split("."):
        module_spec = PathFinder.find_spec(part, places)
        if module_spec is None:
            return None
        places = module_spec.submodule_search_locations
    if module_spec is None or not module_spec.has_location or module_spec.origin is None:
        return None
    return Path(module_spec.origin)


def _file(path: Path) -> ModuleType:
    with _LOADING:
        return _loaded(path)


@cache
def _loaded(path: Path) -> ModuleType:
    sys.path.append(str(path.parent))  # last, so that the agent's files shadow no installed module
    name = f"agent_{path.stem}" if path.stem in sys.modules else path.stem
    module_spec = importlib.util.spec_from_file_location(name, path)
    if module_spec is None or module_spec.loader is None:
        raise ImportError(f"{path} is not a file of Python code")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    module_spec.loader.exec_module(module)
    return module
