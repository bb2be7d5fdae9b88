"""Agents with which something is wrong, for the tests of the league; each is otherwise `Random`."""

import gc
import json
import os
import signal
import sys
import time

from sequence import PASS, Action, Random, State


class Raises(Random):
    """Raises an error instead of every answer."""

    def choose(self, observation):
        """Nothing."""
        raise ValueError("no idea")


class Nonsense(Random):
    """Answers with a number."""

    def choose(self, observation):
        """What is no action."""
        return 3


class Unprintable(Random):
    """Answers with an object that cannot even be shown."""

    def choose(self, observation):
        """Itself."""
        return self

    def __repr__(self):
        raise RuntimeError


class Passes(Random):
    """Passes where it may not."""

    def choose(self, observation):
        """An action of the right form."""
        return PASS


class Elsewhere(Random):
    """Places a chip off the board."""

    def choose(self, observation):
        """An action of the right form."""
        return Action("place", "2s", "2s", (10, 10**30))


class Endless(Random):
    """Places a chip where no number has a text."""

    def choose(self, observation):
        """An action of the right form."""
        return Action("place", "2s", "2s", (10**5000, 0))


class Desertion(BaseException):
    """Not even an Exception."""


class Deserts(Random):
    """Raises what few expect."""

    def choose(self, observation):
        """Nothing."""
        raise Desertion


class Leaves(Random):
    """Calls sys.exit() instead of every answer."""

    def choose(self, observation):
        """Nothing."""
        sys.exit("enough")


class Dies(Random):
    """Ends its process at once."""

    def choose(self, observation):
        """Nothing."""
        os._exit(3)


class Signals(Random):
    """Ends its process by a signal that has no name."""

    def choose(self, observation):
        """Nothing."""
        os.kill(os.getpid(), getattr(signal, "SIGRTMIN", 34) + 6)
        return super().choose(observation)


class Hoards(Random):
    """Takes all the memory that it can get."""

    def choose(self, observation):
        """Nothing: there is an end to memory."""
        heap = []
        while True:
            heap.append(bytearray(10_000_000))


class Keeps(Random):
    """Takes all the memory and does not give it back."""

    heap = []

    def choose(self, observation):
        """Nothing: what is left is not enough for the last request."""
        size = 1 << 24
        while size > 64:
            try:
                self.heap.append(bytearray(size))
            except MemoryError:
                size //= 2
        self.heap.append(bytearray(1 << 24))
        return super().choose(observation)


class Hangs(Random):
    """Plays its first action and sleeps over all others."""

    def choose(self, observation):
        """A random action, the first time."""
        if len(observation.history) > 1:
            time.sleep(600)
        return super().choose(observation)


class Spins(Random):
    """Plays its first action and computes over the next one for ever."""

    def choose(self, observation):
        """A random action, the first time."""
        while len(observation.history) > 1:
            pass
        return super().choose(observation)


class Floods(Random):
    """Writes one endless line to every descriptor that it finds."""

    def choose(self, observation):
        """Nothing."""
        while True:
            for descriptor in range(3, 10):
                try:
                    os.write(descriptor, b"[" * 100_000)
                except OSError:
                    continue


class Prints(Random):
    """Prints what looks like answers, and reads what may be the questions."""

    def choose(self, observation):
        """A random action."""
        print(json.dumps({"action": list(PASS)}), flush=True)
        os.write(1, b'{"error": "forged"}\n')
        assert sys.stdin.read() == ""
        return super().choose(observation)


class Peeks(Random):
    """Looks for the full state in everything that its process holds, and raises if it is there."""

    def choose(self, observation):
        """A random action."""
        if any(isinstance(thing, State) for thing in gc.get_objects()):
            raise RuntimeError("I see it all")
        return super().choose(observation)


class Counts:
    """Plays at random from its own seed, and says how often it was asked by a broken answer."""

    def __init__(self, after=3):
        self.asked, self.after = 0, after
        self.random = Random(1)

    def choose(self, observation):
        """A random action; a number instead of the action number `after`."""
        self.asked += 1
        return self.asked if self.asked == self.after else self.random.choose(observation)
