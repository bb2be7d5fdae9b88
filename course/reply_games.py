"""Games of look-ahead with and without a reply term, played by `bench lookahead`, to be analysed."""

import json
from pathlib import Path


def reply_games() -> dict[str, list[float]]:
    """The points of each deal, by the cards that may reply: "possible" or "known".

    They are those of `LookAhead` against the same agent without a reply term. A deal is played
    twice, once from each seat, so its points go from 0 to 2, where a tie is half a point.
    """
    games: dict[str, list[float]] = json.loads(
        Path(__file__).with_suffix(".json").read_text("utf-8")
    )
    return games
