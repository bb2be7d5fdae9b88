"""Reports problems of a cluster while submissions run there: a scheduler that does not respond, and
new workers that cannot be used."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from autograder.sandbox.cluster import MAX_OUTAGE_SECONDS, Cluster, ClusterUnavailable
from autograder.sandbox.worker import WorkerRequirements
from common.clock import CLUSTER_POLL_SECONDS


@contextlib.contextmanager
def watch_cluster(
    address: str,
    requirements: WorkerRequirements,
    notify: Callable[[str], object],
    max_outage_seconds: float = MAX_OUTAGE_SECONDS,
    poll_seconds: float = CLUSTER_POLL_SECONDS,
) -> Iterator[int]:
    """Yield how many tasks the cluster at `address` can run in parallel; watch it within the block.

    `notify` is called with a message for each worker that cannot be used, when the cluster becomes
    unreachable and when it is back. `max_outage_seconds` is how long grading waits for an
    unreachable cluster; `poll_seconds` is the time between two requests. Raises
    `ClusterUnavailable` if there is no scheduler or no usable worker.
    """
    cluster, stopped = Cluster(address, notify, max_outage_seconds=poll_seconds), threading.Event()

    def watch() -> None:
        unreachable = False
        while not stopped.wait(poll_seconds):
            try:
                cluster.slots(requirements)
            except ClusterUnavailable as error:
                if not (unreachable or stopped.is_set()):
                    notify(f"{error}; waiting for it for at most {max_outage_seconds:g} s")
                unreachable = True
            else:
                if unreachable:
                    notify(f"the cluster at {address} is available again")
                unreachable = False

    with contextlib.closing(cluster):
        slots = cluster.slots(requirements)
        threading.Thread(target=watch, name=f"watches {address}", daemon=True).start()
        try:
            yield slots
        finally:
            stopped.set()
