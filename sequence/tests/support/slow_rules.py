"""A slow, obviously correct second implementation of the rules, with dictionaries and lists.

It was written from the text of the rule book and shares no code with the engine; tests compare the
two. Cells contain "" (empty), "0", "1", "2" (a chip of that side) or "0!" (in a sequence).
"""

BOARD = """
| free | 2s | 3s | 4s | 5s | 6s | 7s | 8s | 9s | free |
| 6c | 5c | 4c | 3c | 2c | ah | kh | qh | th | ts |
| 7c | as | 2d | 3d | 4d | 5d | 6d | 7d | 9h | qs |
| 8c | ks | 6c | 5c | 4c | 3c | 2c | 8d | 8h | ks |
| 9c | qs | 7c | 6h | 5h | 4h | ah | 9d | 7h | as |
| tc | ts | 8c | 7h | 2h | 3h | kh | td | 6h | 2d |
| qc | 9s | 9c | 8h | 9h | th | qh | qd | 5h | 3d |
| kc | 8s | tc | qc | kc | ac | ad | kd | 4h | 4d |
| ac | 7s | 6s | 5s | 4s | 3s | 2s | 2h | 3h | 5d |
| free | ad | kd | qd | td | 9d | 8d | 7d | 6d | free |
"""
CARD = {
    (r, c): word.strip()
    for r, line in enumerate(BOARD.strip().splitlines())
    for c, word in enumerate(line.strip("|").split("|"))
}
HEART = [(4, 4), (4, 5), (5, 4), (5, 5)]
SHARED = [
    "ppppp",
    "pppps",
    "pppsp",
    "ppspp",
    "psppp",
    "spppp",
]  # in the order in which they are tried


def where(card):
    """The cells that show a card."""
    return [cell for cell in CARD if CARD[cell] == card]


def sequences_by(board, cell, side, heart):
    """The number of sequences that `side`'s new chip on `cell` completes, and the marked cells."""
    count, marked = 0, set()
    for down, right in ((1, 0), (0, 1), (1, 1), (1, -1)):
        path = [(cell[0] + k * down, cell[1] + k * right) for k in range(-4, 5)]
        path = [place for place in path if place in CARD]
        text = ""
        for place in path:
            if CARD[place] == "free" or board[place] == str(side):
                text += "p"
            else:
                text += "s" if board[place] == f"{side}!" else "."
        if text == "ppppppppp":
            count += 2
            marked.update(path)
            continue
        for pattern in SHARED if "s" in text else SHARED[:1]:
            start = text.find(pattern)
            if start >= 0:
                count += 1
                marked.update(path[start : start + 5])
                break
    if heart and all(board[place][:1] == str(side) for place in HEART):
        count += 2
        marked.update(HEART)
    return count, {place for place in marked if CARD[place] != "free"}


class SlowGame:
    """One game, which `play` changes. `deck` is a list of names; cards are drawn from its front."""

    def __init__(self, rules, deck):
        self.name, self.players, self.teams = rules.name, rules.players, rules.teams
        self.draft = rules.name == "draft"
        deck = list(deck)
        self.row = [deck.pop(0) for _ in range(5 if self.draft else 0)]
        size = {2: 7, 3: 6, 4: 6, 6: 5, 8: 4, 9: 4, 10: 3, 12: 3}[self.players]
        if self.draft:
            size = 6
        self.hands = [[deck.pop(0) for _ in range(size)] for _ in range(self.players)]
        self.deck, self.discards = deck, []
        self.board = dict.fromkeys(CARD, "")
        self.scores = [0] * self.teams
        self.set_option, self.traded, self.passes = 0, False, 0

    def over(self):
        """Whether the game has ended."""
        enough = 1 if self.teams == 3 else 2
        return (
            max(self.scores) >= enough
            or (self.draft and not self.row)
            or self.passes == self.players
        )

    def winner(self):
        """The side with the most sequences, None for a tie."""
        sides = [side for side in range(self.teams) if self.scores[side] == max(self.scores)]
        return sides[0] if len(sides) == 1 else None

    def empty(self, cell):
        """Whether the board allows a chip to be placed there."""
        return CARD[cell] != "free" and self.board[cell] == ""

    def legal(self):
        """The set of legal actions as tuples (type, play_card, draft_card, coords) with None."""
        if self.over():
            return set()
        hand, side = self.hands[self.set_option], str(self.set_option % self.teams)
        takes = self.row if self.draft else [None]
        dead = [
            card
            for card in hand
            if card[0] != "j" and not any(self.empty(cell) for cell in where(card))
        ]
        trades = set()
        if not self.traded:
            trades = {("trade", card, take, None) for card in dead for take in takes}
        if trades and self.draft:
            return trades | {("trade", None, None, None)}
        found = set(trades)
        for card in hand:
            for cell, on_it in CARD.items():
                if card in ("jh", "js"):
                    if self.board[cell] in {"0", "1", "2"} - {side}:
                        found |= {("remove", card, take, cell) for take in takes}
                elif self.empty(cell) and (card in ("jd", "jc") or on_it == card):
                    found |= {("place", card, take, cell) for take in takes}
        return found or {("pass", None, None, None)}

    def play(self, action, shuffled=None):
        """Play a legal action; `shuffled` is the new deck, if the discards are shuffled now."""
        kind, card, take, cell = action
        if card is not None:
            hand = self.hands[self.set_option]
            hand.remove(card)
            self.discards.append(card)
            if self.draft:
                self.row.remove(take)
                hand.append(take)
                if self.deck:
                    self.row.append(self.deck.pop(0))
            else:
                hand.append(self.deck.pop(0))
                if not self.deck:
                    assert sorted(shuffled) == sorted(self.discards)
                    self.deck, self.discards = list(shuffled), []
        side = self.set_option % self.teams
        if kind == "remove":
            self.board[cell] = ""
        if kind == "place":
            self.board[cell] = str(side)
            count, marked = sequences_by(self.board, cell, side, self.draft)
            self.scores[side] += count
            for place in marked:
                self.board[place] = f"{side}!"
        if card is not None:
            self.passes = 0
        elif kind == "pass":
            self.passes += 1
        self.traded = kind == "trade"
        if kind != "trade":
            self.set_option = (self.set_option + 1) % self.players
