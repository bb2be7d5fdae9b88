"""Faulty agents for the tests of the league; in other respects, each is like `Random`."""

import gc
import json
import os
import signal
import sys
import time

from sequence import PASS, Action, Random, State


class Raises(Random):
    """Raises an error instead of answering."""

    def choose(self, observation):
        """Nothing."""
        raise ValueError("no idea")


class Nonsense(Random):
    """Answers with a number."""

    def choose(self, observation):
        """Something that is not an action."""
        return 3


class Unprintable(Random):
    """Answers with an object that cannot be printed."""

    def choose(self, observation):
        """Itself."""
        return self

    def __repr__(self):
        raise RuntimeError


class Passes(Random):
    """Passes when it is not allowed to."""

    def choose(self, observation):
        """An action of the right form."""
        return PASS


class Elsewhere(Random):
    """Places a chip off the board."""

    def choose(self, observation):
        """An action of the right form."""
        return Action("place", "2s", "2s", (10, 10**30))


class Endless(Random):
    """Places a chip at coordinates that are too long to print."""

    def choose(self, observation):
        """An action of the right form."""
        return Action("place", "2s", "2s", (10**5000, 0))


class Desertion(BaseException):
    """Not even an Exception."""


class Deserts(Random):
    """Raises an unusual exception."""

    def choose(self, observation):
        """Nothing."""
        raise Desertion


class Leaves(Random):
    """Calls sys.exit() instead of answering."""

    def choose(self, observation):
        """Nothing."""
        sys.exit("enough")


class Dies(Random):
    """Ends its process immediately."""

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
    """Allocates all the memory that it can get."""

    def choose(self, observation):
        """Nothing, because memory runs out."""
        heap = []
        while True:
            heap.append(bytearray(10_000_000))


class Keeps(Random):
    """Allocates all the memory and does not release it."""

    heap = []

    def choose(self, observation):
        """Nothing, because the remaining memory is not enough for the last request."""
        size = 1 << 24
        while size > 64:
            try:
                self.heap.append(bytearray(size))
            except MemoryError:
                size //= 2
        self.heap.append(bytearray(1 << 24))
        return super().choose(observation)


class Hangs(Random):
    """Plays its first action, and later sleeps instead of playing."""

    def choose(self, observation):
        """A random action, but only the first time."""
        if len(observation.history) > 1:
            time.sleep(600)
        return super().choose(observation)


class Spins(Random):
    """Plays its first action and then computes forever."""

    def choose(self, observation):
        """A random action, but only the first time."""
        while len(observation.history) > 1:
            pass
        return super().choose(observation)


class Floods(Random):
    """Writes an endless line to every file descriptor that it finds."""

    def choose(self, observation):
        """Nothing."""
        while True:
            for descriptor in range(3, 10):
                try:
                    os.write(descriptor, b"[" * 100_000)
                except OSError:
                    continue


class Prints(Random):
    """Prints what looks like answers, and tries to read the observations."""

    def choose(self, observation):
        """A random action."""
        print(json.dumps({"action": list(PASS)}), flush=True)
        os.write(1, b'{"error": "forged"}\n')
        assert sys.stdin.read() == ""
        return super().choose(observation)


class Peeks(Random):
    """Searches its process for the full state, and raises an error if it finds one."""

    def choose(self, observation):
        """A random action."""
        if any(isinstance(thing, State) for thing in gc.get_objects()):
            raise RuntimeError("I see it all")
        return super().choose(observation)


class Counts:
    """Plays at random with its own seed, and reports the number of its calls in an invalid answer."""

    def __init__(self, after=3):
        self.asked, self.after = 0, after
        self.random = Random(1)

    def choose(self, observation):
        """A random action, or the count instead of action number `after`."""
        self.asked += 1
        return self.asked if self.asked == self.after else self.random.choose(observation)
