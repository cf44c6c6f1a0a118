"""The calls of other optimisers: :func:`gp_minimize` as in scikit-optimize, :func:`minimize` as in scipy.optimize."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

from ._errors import NoAnswer, RequestError
from ._optimizer import Optimizer
from ._problem import Problem
from ._variables import Categorical, Continuous, Integer, Variable


class OptimizeResult(dict):
    """A dict whose keys are attributes, too, as in scipy."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        return "\n".join(f"{name:>10}: {value!r}" for name, value in self.items())


def gp_minimize(
    func: Callable[[list[Any]], float],
    dimensions: Sequence[Any],
    n_calls: int = 100,
    *,
    x0: Sequence[Any] | None = None,
    y0: Sequence[float] | float | None = None,
    constraints: Mapping[str, str] | Sequence[str] | None = None,
    random_state: int | None = None,
    callback: Callable[[OptimizeResult], Any] | Sequence[Callable[[OptimizeResult], Any]] | None = None,
    names: Sequence[str] | None = None,
) -> OptimizeResult:
    """Minimises ``func`` of a list of values over ``dimensions``, as ``skopt.gp_minimize`` does.

    A dimension is ``(lower, upper)`` (whole numbers make an integer, floats a real one), ``(lower, upper,
    "log-uniform")``, a list of levels, a variable of leafgp or a dimension of scikit-optimize. Its name is that of the
    scikit-optimize dimension, of ``names``, or ``x0``, ``x1``, ...; ``constraints`` are about these names. ``x0`` are
    points to begin with, ``y0`` their values where they are known. ``n_calls`` counts the calls of ``func``.
    """
    variables = _variables(dimensions, names)
    levels = {name: _levels(dimension) for name, dimension in zip(variables, dimensions)}
    settings = {} if random_state is None else {"seed": int(random_state)}
    objective = "y" if "y" not in variables else "y_objective"
    problem = Problem("gp_minimize", variables, objective=objective, constraints=constraints, settings=settings)
    optimizer = Optimizer(problem)
    callbacks = [] if callback is None else [callback] if callable(callback) else list(callback)
    tried: list[list[Any]] = []
    values: list[float] = []

    def point(x: Sequence[Any]) -> dict[str, Any]:
        if isinstance(x, (str, Mapping)) or len(x) != len(variables):
            raise RequestError(f"x0: found {x!r}; expected a list of {len(variables)} values for each point")
        return {name: _label(value) if levels[name] else value for name, value in zip(variables, x)}

    def record(x: Sequence[Any], value: float) -> None:
        optimizer.tell(point(x), value)
        tried.append(list(x))
        values.append(float(value))

    def result() -> OptimizeResult:
        best = optimizer.best()
        at = None if best is None else best.row - 1
        return OptimizeResult(
            x=None if at is None else tried[at],
            fun=None if best is None else best.value,
            x_iters=tried,
            func_vals=values,
            space=problem,
            optimizer=optimizer,
        )

    given = [] if x0 is None else list(x0)
    given = [given] if given and not isinstance(given[0], (list, tuple)) else given
    known = [] if y0 is None else [y0] if isinstance(y0, (int, float)) else list(y0)
    if known and len(known) != len(given):
        raise RequestError(f"found {len(given)} points x0 and {len(known)} values y0; expected as many")
    for x, value in zip(given, known):
        record(x, value)
    queue = [] if known else given
    for call in range(n_calls):
        if call < len(queue):
            x = list(queue[call])
        else:
            try:
                asked = optimizer.ask(tree_excess=False).point
            except NoAnswer:
                if not tried:
                    raise
                break
            x = [levels[name].get(value, value) if levels[name] else value for name, value in asked.items()]
        record(x, func(x))
        if any([callback(result()) for callback in callbacks]):
            break
    return result()


def minimize(
    fun: Callable[..., float],
    bounds: Any,
    args: tuple[Any, ...] = (),
    *,
    constraints: Mapping[str, str] | Sequence[str] | None = None,
    integrality: Sequence[bool] | None = None,
    maxiter: int = 50,
    seed: int | None = None,
    callback: Callable[[Any], Any] | None = None,
) -> OptimizeResult:
    """Minimises ``fun(x, *args)`` of a numpy array within ``bounds``, as ``scipy.optimize.differential_evolution`` does:
    the same names of arguments and of the result's fields (``x``, ``fun``, ``nfev``, ``success``, ``message``).

    ``bounds``: ``(lower, upper)`` for each variable, or scipy's ``Bounds``. ``integrality``: which are whole numbers.
    ``constraints``: expressions over ``x0``, ``x1``, ..., known and cheap. ``maxiter`` counts the calls of ``fun``;
    ``callback`` is called with the best ``x`` so far and ends the search by a true value.
    """
    import numpy

    if hasattr(bounds, "lb"):
        bounds = list(zip(numpy.atleast_1d(bounds.lb), numpy.atleast_1d(bounds.ub)))
    whole = [False] * len(bounds) if integrality is None else list(integrality)
    if len(whole) != len(bounds):
        raise RequestError(f"integrality has {len(whole)} entries; expected {len(bounds)}, one for each variable")
    variables = {
        f"x{i}": (Integer if is_whole else Continuous)(lower, upper)
        for i, ((lower, upper), is_whole) in enumerate(zip(bounds, whole))
    }
    settings = {} if seed is None else {"seed": int(seed)}
    problem = Problem("minimize", variables, objective="fun", constraints=constraints, settings=settings)
    optimizer = Optimizer(problem)
    array = lambda point: numpy.array(list(point.values()), dtype=float)  # noqa: E731
    message = f"{maxiter} calls of fun"
    for _ in range(maxiter):
        try:
            point = optimizer.ask(tree_excess=False).point
        except NoAnswer as error:
            if len(optimizer) == 0:
                raise
            message = str(error)
            break
        value = fun(array(point), *args)
        if value != value:
            optimizer.fail(point)
        else:
            optimizer.tell(point, value)
        best = optimizer.best()
        if callback is not None and best is not None and callback(array(best.point)):
            message = "the callback ended it"
            break
    best = optimizer.best()
    return OptimizeResult(
        x=None if best is None else array(best.point),
        fun=None if best is None else best.value,
        nfev=len(optimizer),
        success=best is not None,
        message=message,
        optimizer=optimizer,
    )


def _variables(dimensions: Sequence[Any], names: Sequence[str] | None) -> dict[str, Variable]:
    if names is not None and len(names) != len(dimensions):
        raise RequestError(f"found {len(dimensions)} dimensions and {len(names)} names; expected as many")
    own = [getattr(dimension, "name", None) or f"x{i}" for i, dimension in enumerate(dimensions)]
    return {name: _variable(dimension) for name, dimension in zip(names or own, dimensions)}


def _variable(dimension: Any) -> Variable:
    if isinstance(dimension, Variable):
        return dimension
    kind = type(dimension).__name__
    if kind in ("Real", "Integer") and hasattr(dimension, "low"):
        scale = "log" if dimension.prior == "log-uniform" else None
        return {"Real": Continuous, "Integer": Integer}[kind](dimension.low, dimension.high, scale=scale)
    if kind == "Categorical" and hasattr(dimension, "categories"):
        return Categorical([_label(value) for value in dimension.categories])
    if isinstance(dimension, (tuple, list)) and dimension:
        scale = None
        values = list(dimension)
        if len(values) == 3 and values[2] in ("uniform", "log-uniform"):
            scale = "log" if values.pop() == "log-uniform" else None
        is_number = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in values]
        if len(values) == 2 and all(is_number) and isinstance(dimension, tuple):
            is_whole = all(isinstance(value, int) for value in values)
            return (Integer if is_whole else Continuous)(*values, scale=scale)
        return Categorical([_label(value) for value in values])
    raise RequestError(f"found {dimension!r}; expected (lower, upper), a list of levels, or a dimension")


def _levels(dimension: Any) -> dict[str, Any]:
    """The values of a category by their labels; empty for numbers."""
    if isinstance(dimension, Variable):
        return {_label(level): level for level in getattr(dimension, "levels", ())}
    if not isinstance(_variable(dimension), Categorical):
        return {}
    return {_label(value): value for value in getattr(dimension, "categories", dimension)}


def _label(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)
