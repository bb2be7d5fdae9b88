"""Tells what becomes of a cluster while submissions run there: a scheduler that does not answer,
and workers that come later and cannot be used."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from autograder.sandbox.cluster import LOOK, PATIENCE, Cluster, ClusterGone
from autograder.sandbox.worker import Terms


@contextlib.contextmanager
def watched(
    address: str,
    terms: Terms,
    tell: Callable[[str], object],
    patience: float = PATIENCE,
    look: float = LOOK,
) -> Iterator[int]:
    """How many tasks the cluster at `address` does at once, now; it is watched within the block.

    `tell` gets a sentence for each worker that is not used, and when the cluster goes and comes
    back; `patience`: for how many seconds those who use it wait for it. `look`: seconds between two
    looks. Raises `ClusterGone` if there is no scheduler, or no worker that can be used.
    """
    cluster, over = Cluster(address, tell, patience=look), threading.Event()

    def watch() -> None:
        away = False
        while not over.wait(look):
            try:
                cluster.slots(terms)
            except ClusterGone as gone:
                if not (away or over.is_set()):
                    tell(f"{gone}; waiting for it, for {patience:g} s at most")
                away = True
            else:
                if away:
                    tell(f"the cluster at {address} works again")
                away = False

    with contextlib.closing(cluster):
        slots = cluster.slots(terms)
        threading.Thread(target=watch, name=f"watches {address}", daemon=True).start()
        try:
            yield slots
        finally:
            over.set()
