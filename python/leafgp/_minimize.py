"""A loop of ask and tell."""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Union

from ._errors import NoAnswer, RequestError, SpaceExhausted
from ._optimizer import Optimizer
from ._problem import Problem


class Result(NamedTuple):
    """What a loop found: the best feasible point and its value (``None`` when there is none), why it ended, and the
    optimiser with all experiments."""

    point: Union[dict, None]
    value: Union[float, None]
    reason: str
    optimizer: Optimizer


def minimize(
    f: Callable[[dict[str, Any]], float],
    problem: Problem,
    n: int = 50,
    *,
    history: Any = None,
    callback: Callable[[Optimizer], Any] | None = None,
    progress: bool = False,
    on_error: str = "raise",
) -> Result:
    """Measures ``f`` at ``n`` suggested points (in the direction that the problem says) and returns the best.

    ``f`` is called with a point; what it returns is told; ``None`` or NaN is a failed experiment. ``callback`` is
    called with the optimiser after each experiment and ends the loop by a true value. ``progress`` shows a bar of tqdm
    where it is installed. ``on_error``: ``"raise"``, or ``"fail"`` to tell an exception of ``f`` as a failed
    experiment. Ctrl-C ends the loop, and the best so far is returned.
    """
    if not callable(f):
        raise RequestError(f"f is a {type(f).__name__}; expected a function of a point")
    if not isinstance(problem, Problem):
        raise RequestError(f"problem: found a {type(problem).__name__}; expected a Problem")
    if isinstance(n, bool) or not hasattr(n, "__index__") or n < 0:
        raise RequestError(f"n is {n!r}; expected a whole number of at least 0")
    if on_error not in ("raise", "fail"):
        raise RequestError(f"on_error is {on_error!r}; expected 'raise' or 'fail'")
    optimizer = Optimizer(problem, history)
    bar = _bar(int(n)) if progress else None
    reason = f"{n} experiments"
    try:
        for _ in range(n):
            point = optimizer.ask(tree_excess=False).point
            _tell(optimizer, point, f, on_error)
            if bar is not None:
                bar.update()
            if callback is not None and callback(optimizer):
                reason = "the callback ended it"
                break
    except SpaceExhausted as error:
        reason = str(error)
    except NoAnswer as error:
        if len(optimizer) == 0:
            raise
        reason = str(error)
    except KeyboardInterrupt:
        reason = "interrupted"
    finally:
        if bar is not None:
            bar.close()
    best = optimizer.best()
    return Result(best and best.point, best and best.value, reason, optimizer)


def _tell(optimizer: Optimizer, point: Mapping[str, Any], f: Callable[..., Any], on_error: str) -> None:
    try:
        value = f(dict(point))
    except Exception:
        if on_error == "raise":
            raise
        value = None
    if value is None or value != value:
        optimizer.fail(point)
    else:
        optimizer.tell(point, value)


def _bar(n: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=n)


