"""Limits of a search, and its progress against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sdc_problems.studies.store.writer import Generation


@dataclass(frozen=True)
class Limits:
    """Limits of a search, which ends with the first one that is reached.

    Parameters
    ----------
    generations, evaluations
        As counted by pymoo.
    seconds
        Computing time over all sessions, without replays. The generations are the same whatever the time limit; their
        number depends on the machine.
    stalled
        Number of generations without a change of the front.
    """

    generations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    stalled: int | None = None

    def termination(self, own: Any = None) -> Any:
        """Termination for pymoo: its part of the limits, combined with an algorithm's own."""
        from pymoo.core.termination import NoTermination, TerminateIfAny
        from pymoo.termination import get_termination

        parts = [] if own is None else [own]
        if self.generations is not None:
            parts.append(get_termination("n_gen", self.generations))
        if self.evaluations is not None:
            parts.append(get_termination("n_eval", self.evaluations))
        return parts[0] if len(parts) == 1 else TerminateIfAny(*parts) if parts else NoTermination()


class Progress:
    """Progress of a search against its limits, summed over the sessions."""

    def __init__(self, limits: Limits, ends: bool) -> None:
        self.limits = limits
        self.forced = "its own budget is spent" if ends else "no new candidates"
        self.seconds = 0.0
        self.unchanged = 0
        self._front: bytes | None = None

    def add(self, generation: Generation) -> None:
        """Count a generation, replayed or new."""
        self.seconds += generation.seconds
        front = generation.arrays["front"].tobytes()
        self.unchanged = self.unchanged + 1 if front == self._front else 0
        self._front = front

    def reason(self, algorithm: Any) -> str:
        """Reason why the search is over; empty if it is not."""
        if algorithm.is_initialized and not algorithm.has_next():
            return self.forced if algorithm.termination.force_termination else "limit reached"
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            return "time limit reached"
        if self.limits.stalled is not None and self.unchanged >= self.limits.stalled:
            return f"front unchanged for {self.unchanged} generations"
        return ""
