"""Errors. Their texts are those of the command line."""

from __future__ import annotations

from typing import Any, Sequence


class LeafgpError(Exception):
    """Every error of leafgp but an interruption."""


class ProblemError(LeafgpError, ValueError):
    """A problem that was refused: where, what is wrong, what was expected."""


class PointError(LeafgpError, ValueError):
    """A point, a value or a table of points that was refused."""


class RequestError(LeafgpError, ValueError):
    """A wish that cannot be: an unknown name, a number out of range."""


class HistoryError(LeafgpError, ValueError):
    """A table of experiments that was refused: row, column, what was expected."""


class ModelError(LeafgpError, ValueError):
    """A trained model that was refused, or does not fit the variables."""


class NoModelError(LeafgpError):
    """There is no model yet: no experiment has a value."""


class NoAnswer(LeafgpError):
    """It ran and found nothing; the text says why."""


class InfeasibleError(NoAnswer):
    """The constraints leave no feasible point: proved.

    ``conflict`` holds the names of constraints that cannot hold together, none of them dispensable; it is empty when
    the set was not found within the limits.
    """

    conflict: list[str]

    def __init__(self, message: str, conflict: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.conflict = list(conflict)


class SpaceExhausted(NoAnswer):
    """No new feasible point is left: proved."""


class NoCandidate(NoAnswer):
    """None of the points to choose from is left."""


class NoIncumbent(NoAnswer):
    """The limits ran out before a point was found."""


class InternalError(LeafgpError, RuntimeError):
    """A mistake of leafgp. Please report it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came; ``result`` is the best found until then: what the call would have returned."""

    result: Any

    def __init__(self, result: Any) -> None:
        super().__init__("interrupted: result is the best found so far")
        self.result = result
