"""Tests of the files that are sent with an agent to a worker, and of their removal."""

import os
import subprocess
import sys

FILE = """
import os, sys
from sequence.league.cluster import TaskPayload, game_code_digest
from sequence.league.players.specs import Spec

agent = Spec("Mine", "mine.py", "Mine")
place = TaskPayload({"mine.py": b"a = 1\\n"}, game_code_digest()).unpack(agent).where
if not os.fork():
    sys.exit(0)
os.wait()
print(place, open(place).read())
"""


def test_a_worker_that_ends_leaves_no_file_of_an_agent(tmp_path):
    """An agent's files exist until the process ends, whatever its forks do, and no longer."""
    done = subprocess.run(
        [sys.executable, "-c", FILE],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    place, text = done.stdout.split(maxsplit=1)
    assert place.startswith(str(tmp_path))
    assert text == "a = 1\n\n"
    assert list(tmp_path.iterdir()) == []
