"""The one exception for what a user can put right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST_LIST = 40
"""More known words than this are no help in a sentence."""


class UserError(Exception):
    """A mistake in the input: one sentence that says what is wrong, where, and what would be right.

    The command line prints it without a traceback and exits with 2.
    """


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Near matches of a misspelled word, as the end of an error sentence ('' when nothing is known)."""
    candidates = sorted({str(name) for name in known})
    folded = {name.casefold(): name for name in candidates}
    near = [folded[name] for name in difflib.get_close_matches(word.casefold(), folded, n=3, cutoff=0.5)]
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; known: {', '.join(candidates)}" if candidates and len(candidates) <= LONGEST_LIST else ""


class SweepError(Exception):
    """Some runs of a sweep failed: a sentence, and one more for each of them."""

    def __init__(self, sentences: str, *, by_user: bool, tracebacks: list[str]) -> None:
        super().__init__(sentences)
        self.by_user = by_user
        """All of it is the user's to put right."""
        self.tracebacks = tracebacks
