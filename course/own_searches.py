"""Searches for the games of later notebooks: your own from studies 1 and 2, and random play.

from course.own_searches import own_searches
for name, searcher in own_searches(game).items(): print(name, searcher.search(game))
"""

import sys
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from course.checks import load_study
from tictactoe import Search

AGENTS = {"study1": "Minimax", "study2": "AlphaBeta"}


class RandomPlay:
    """A substitute for a search of your own: the value of a game if both players move at random."""

    def search(self, game: Any) -> Search:
        """`Search(move, value, nodes)` for the player to move; no move is chosen, and only the
        root is counted as a node.
        """
        return Search(None, self._mean_utility(game, game.to_move), 1)

    def _mean_utility(self, game: Any, player: Any) -> float:
        if game.is_terminal():
            return float(game.utility(player))
        return fmean(self._mean_utility(game.after(move), player) for move in game.legal_moves())


def own_searches(game: Any) -> dict[str, Any]:
    """`RandomPlay` and your agents from studies 1 and 2 that can search `game`, by name.

    Their modules are read from the folders of these studies, next to the current folder. Missing
    modules and agents that are not written yet are left out.
    """
    searches: dict[str, Any] = {"random play": RandomPlay()}
    for study, agent in AGENTS.items():
        module = _module(study)
        if module is not None:
            with suppress(NotImplementedError):
                searcher = getattr(module, agent)()
                searcher.search(game)
                searches[agent] = searcher
    return searches


def _module(name: str) -> ModuleType | None:
    study = load_study(name)
    path = Path("..") / study.folder.name / study.module
    spec = spec_from_file_location(path.stem, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    before = sys.modules.get(path.stem)
    try:
        sys.modules[path.stem] = module  # dataclasses look their module up while it is loaded
        spec.loader.exec_module(module)
    finally:
        if before is None:
            del sys.modules[path.stem]
        else:
            sys.modules[path.stem] = before
    return module
