"""How the garbage collector is set in processes that keep much in memory for long."""

import gc

NEW_OBJECTS = 50_000
YOUNG_COLLECTIONS = 20
MIDDLE_COLLECTIONS = 50


def collect_rarely() -> None:
    """Let the collector look through everything far less often than by default.

    What a cluster or a fleet is kept as are tens of thousands of objects that live for long and are freed by their
    counts. To look through all of them takes 40 ms and more, during which nobody is answered; what has cycles is small,
    and found while it is young.
    """
    gc.set_threshold(NEW_OBJECTS, YOUNG_COLLECTIONS, MIDDLE_COLLECTIONS)
