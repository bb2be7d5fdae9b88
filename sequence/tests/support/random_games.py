"""Helpers for states of random games."""

import random

from sequence import State


def states_of(rules, seed, every=7):
    """The states of a random game at a fixed interval."""
    state, chance = State.deal(rules, seed), random.Random(seed)
    while not state.is_terminal():
        if len(state.history) % every == 0:
            yield state
        state = state.after(state.legal_actions().choose(chance))
    yield state
