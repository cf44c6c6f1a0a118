"""Ask and tell."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, NamedTuple, Union, overload

from . import _leafgp
from ._errors import Interrupted, PointError, RequestError
from ._problem import Problem
from ._tables import csv_bytes, csv_text, float_array, is_array, is_frame, is_series, record, records

Point = Mapping[str, Any]


class Prediction(NamedTuple):
    """A predicted objective and its standard deviation, in the objective's units: floats, or numpy arrays for an array."""

    mean: Any
    std: Any


class Best(NamedTuple):
    """The best feasible experiment: its point, its value and its row, from 1."""

    point: dict[str, Any]
    value: float
    row: int


class Promise(NamedTuple):
    """No feasible setting promises to be better than ``bound``, by the trees' model: proved. In the objective's units."""

    bound: float
    kappa: float
    best: Union[float, None]
    gain: Union[float, None]
    sentence: str


class Svg(str):
    """A picture that a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self)


class Suggestion:
    """A suggested experiment and what is known of it.

    ``point``: a value for each variable. ``mean``, ``std``: predicted objective and its deviation by the model that
    chose the point, in its units; ``None`` in the first design. ``cell``: the region in which all points are equal to
    the trees, ``[lower, upper]`` or the levels. ``bound``: no feasible point has a smaller ``acquisition`` (standardised
    units): proved; ``promised_bound`` the same in the objective's units. ``gap``, ``status``, ``stop_reason``: how far
    the search came. ``method``: ``design``, ``cell``, ``smooth search`` or ``candidate``. ``candidate``: its index in
    ``among``, from 0. ``note``: why this kind of suggestion was made. :meth:`to_dict` is what ``leafgp suggest
    --format json`` writes.
    """

    __slots__ = ("_json",)

    def __init__(self, json: dict[str, Any]) -> None:
        self._json = json

    @property
    def point(self) -> dict[str, Any]:
        return self._json["point"]

    @property
    def mean(self) -> float | None:
        return self._json["mean"]

    @property
    def std(self) -> float | None:
        return self._json["std"]

    @property
    def noise(self) -> float | None:
        """Standard deviation of a measurement's noise by the model, in the objective's units."""
        return self._json["noise"]

    @property
    def cell(self) -> dict[str, Any] | None:
        return self._json["region"]

    @property
    def acquisition(self) -> float | None:
        return self._json["acquisition"]

    @property
    def bound(self) -> float | None:
        return self._json["bound"]

    @property
    def promised_bound(self) -> float | None:
        return self._json["promised_bound"]

    @property
    def gap(self) -> float | None:
        return self._json["gap"]

    @property
    def status(self) -> str:
        return self._json["status"]

    @property
    def stop_reason(self) -> str | None:
        return self._json["stop_reason"]

    @property
    def method(self) -> str | None:
        return self._json.get("method")

    @property
    def candidate(self) -> int | None:
        number = self._json.get("candidate")
        return None if number is None else number - 1

    @property
    def note(self) -> str | None:
        return self._json["note"]

    def to_dict(self) -> dict[str, Any]:
        """The object that ``leafgp suggest --format json`` writes."""
        own = ("note", "noise", "promised_bound")
        return {key: value for key, value in self._json.items() if key not in own}

    def __getitem__(self, name: str) -> Any:
        return self.point[name]

    def __repr__(self) -> str:
        predicted = "" if self.mean is None else f"; predicted {self.mean:.6g} +- {self.std:.2g}"
        return f"Suggestion({self.point!r}{predicted}; {self.status})"


class Suggestions(list[Suggestion]):
    """A list of suggestions; ``fewer_because`` says why there are fewer than were asked for, ``left_out`` why each of
    ``among`` was not to be chosen (``None`` where it was)."""

    fewer_because: str | None = None
    left_out: list[str | None]


class Model:
    """A fitted model."""

    def __init__(self, problem: Problem, core: _leafgp.Model) -> None:
        self._problem = problem
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    def predict(self, points: Any) -> Any:
        """Predicted objective and deviation, in its units.

        A point gives a :class:`Prediction`, a list of points a list of them, a DataFrame one with the columns ``mean``
        and ``std``, an array of shape ``(n, n_variables)`` (a category as its level index) a prediction of two arrays.
        """
        if isinstance(points, Mapping) or is_series(points):
            means, deviations = self._core._predict_points([record(points)])
            return Prediction(means[0], deviations[0])
        if is_array(points):
            return Prediction(*self._core._predict_array(float_array(points)))
        if is_frame(points):
            names = self._problem.names
            chosen = points[[name for name in names if name in points.columns]]
            means, deviations = self._core._predict_points(records(chosen))
            frame = type(points)({"mean": means, "std": deviations})
            return frame.set_index(points.index) if hasattr(points, "index") else frame
        means, deviations = self._core._predict_points(records(points))
        return [Prediction(*pair) for pair in zip(means, deviations)]

    def __repr__(self) -> str:
        return f"Model({self.name})"


class Optimizer:
    """Ask for the next experiment, tell its result. Threads may share it.

    ``history``: experiments as a DataFrame or a list of dicts (the variables' columns, the objective's, and if need be
    ``status``), the path of a history file, or its bytes. An experiment without a value is pending.
    """

    def __init__(self, problem: Problem | str | os.PathLike[str], history: Any = None) -> None:
        if not isinstance(problem, Problem):
            if not isinstance(problem, (str, os.PathLike)):
                raise RequestError(f"problem: found a {type(problem).__name__}; expected a Problem or the path of its file")
            problem = Problem.from_file(problem)
        if history is None:
            content = b""
        elif isinstance(history, (str, os.PathLike)):
            with open(history, "rb") as file:
                content = file.read()
        else:
            content = csv_bytes(history)
        self._problem = problem
        self._core = _leafgp.Optimizer(problem._core, content)

    @property
    def problem(self) -> Problem:
        return self._problem

    @property
    def warnings(self) -> list[str]:
        """What is legal in the history that it started from, but should be known."""
        return self._core.warnings

    @overload
    def ask(
        self,
        n: None = None,
        *,
        fixed: Point | None = None,
        among: Any = None,
        same: Iterable[str] = (),
        pending: bool = False,
        tree_excess: bool = True,
    ) -> Suggestion: ...
    @overload
    def ask(
        self,
        n: int,
        *,
        fixed: Point | None = None,
        among: Any = None,
        same: Iterable[str] = (),
        pending: bool = False,
        tree_excess: bool = True,
    ) -> Suggestions: ...
    def ask(
        self,
        n: int | None = None,
        *,
        fixed: Point | None = None,
        among: Any = None,
        same: Iterable[str] = (),
        pending: bool = False,
        tree_excess: bool = True,
    ) -> Any:
        """The next experiment; with ``n`` a list of so many to run side by side.

        The same experiments and seed give the same answer, as the command ``leafgp suggest`` does. ``fixed``: values
        that variables must have. ``among``: points to choose from. ``same``: variables with one value in all of the
        list. ``pending``: whether the suggestions count as planned from now on. ``tree_excess``: whether a suggestion
        by local search says what the trees prove of it; it changes no point and takes a little time.

        Raises :class:`InfeasibleError`, :class:`SpaceExhausted`, :class:`NoCandidate`, :class:`NoIncumbent`,
        :class:`RequestError`, and after Ctrl-C :class:`Interrupted` with what was found.
        """
        if n is not None and (isinstance(n, bool) or not hasattr(n, "__index__") or not 1 <= n < 2**32):
            raise RequestError(f"n is {n!r}; expected a whole number of at least 1 (and below 2^32)")
        if isinstance(same, str):
            same = [same]
        if not isinstance(same, Iterable):
            raise RequestError(f"same is {same!r}; expected the names of variables")
        points = None if among is None else self._points(among)
        answer, is_interrupted = self._core._ask(
            1 if n is None else int(n), fixed or {}, points, list(same), (bool(pending), bool(tree_excess))
        )
        suggestions = Suggestions(Suggestion(json) for json in answer["suggestions"])
        suggestions.fewer_because = answer["fewer_because"]
        suggestions.left_out = answer["left_out"]
        result = suggestions[0] if n is None else suggestions
        if is_interrupted:
            raise Interrupted(result)
        return result

    def _points(self, points: Any) -> list[Any]:
        if isinstance(points, Mapping):
            raise PointError("found one dict; expected a list of points")
        return self._problem.from_array(points) if is_array(points) else records(points)

    def tell(self, point: Any, value: Any = None) -> None:
        """Tells a measured value: of the first pending experiment at the point, or of a new one.

        ``point`` may be a :class:`Suggestion`. Several points (a list, a DataFrame) go with as many values. Nothing is
        stored when one of them is refused.
        """
        if isinstance(point, Suggestion):
            point = point.point
        if isinstance(point, Mapping) or is_series(point):
            self._core._tell(record(point), _number(value))
            return
        points = [p.point if isinstance(p, Suggestion) else p for p in self._points(point)]
        if value is None or isinstance(value, str) or not isinstance(value, Iterable):
            raise PointError(f"found {len(points)} points and {value!r}; expected a value for each")
        values = [_number(item) for item in value]
        if len(points) != len(values):
            raise PointError(f"found {len(points)} points and {len(values)} values; expected as many")
        for one in points:
            # Refuses what is no point before anything is stored.
            self._problem._core.violations(one)
        for one, number in zip(points, values):
            self._core._tell(one, number)

    def fail(self, point: Any) -> None:
        """Tells that an experiment gave no value."""
        self._core.fail(_one(point))

    def plan(self, point: Any) -> None:
        """Tells that an experiment is planned or running."""
        self._core.plan(_one(point))

    def cancel(self, point: Any) -> bool:
        """Takes back a planned experiment; false when there is none at the point."""
        return self._core.cancel(_one(point))

    def best(self) -> Best | None:
        """The best feasible experiment so far; ``None`` when there is none."""
        best = self._core._best()
        return None if best is None else Best(**best)

    def observations(self) -> list[dict[str, Any]]:
        """The experiments: ``point``, ``value``, ``status`` (``done``, ``pending``, ``failed``), ``feasible``."""
        return self._core._observations()

    def to_csv(self) -> str:
        """The experiments as a history file, which the command ``leafgp`` reads."""
        rows = self.observations()
        names = self._problem.names
        header = [*names, self._problem.objective, "status"]
        status = {"done": "", "pending": "", "failed": "failed"}
        cells = (
            [*(row["point"][name] for name in names), row["value"], status[row["status"]]] for row in rows
        )
        if all(row["status"] != "failed" for row in rows):
            header, cells = header[:-1], (cell[:-1] for cell in cells)
        return csv_text(header, cells)

    def to_frame(self) -> Any:
        """The experiments as a DataFrame of pandas: a column for each variable, the objective's, and ``status``."""
        import pandas

        rows = self.observations()
        table = [{**row["point"], self._problem.objective: row["value"], "status": row["status"]} for row in rows]
        return pandas.DataFrame(table, columns=[*self._problem.names, self._problem.objective, "status"])

    def __len__(self) -> int:
        """Number of experiments, pending and failed ones too."""
        return len(self._core)

    def model(self) -> Model:
        """Fits the model that chooses the points."""
        return Model(self._problem, self._core._model(False))

    def surrogate(self) -> Model:
        """Fits the trees and their process: what the proofs are about."""
        return Model(self._problem, self._core._model(True))

    def predict(self, points: Any) -> Any:
        """Fits :meth:`model` and predicts; see :meth:`Model.predict`."""
        return self.model().predict(points)

    def promise(self) -> Promise | None:
        """What is proved of all feasible settings by the trees' model; ``None`` while there is too little data."""
        promise = self._core._promise()
        return None if promise is None else Promise(**promise)

    def plot(self, kind: str = "convergence", *, x: str | None = None, y: str | None = None) -> Svg:
        """A chart: ``convergence``, ``importance``, ``parallel``, ``predictions`` or ``surface`` (of ``x`` and ``y``)."""
        return Svg(self._core._plot(kind, x, y))

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page of ``leafgp report`` as HTML; written to ``path`` if it is given."""
        page = self._core._report()
        if path is not None:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(page)
        return page

    def __reduce__(self) -> Any:
        return Optimizer, (self._problem, self.to_csv().encode())

    def __repr__(self) -> str:
        return f"Optimizer({self._problem.name!r}, {len(self)} experiments)"


def _one(point: Any) -> Point:
    return point.point if isinstance(point, Suggestion) else record(point)


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)) or value is None:
        raise PointError(f"the value is {value!r}; expected a finite number (tell a failed experiment with fail)")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise PointError(
            f"the value is a {type(value).__name__}; expected a finite number (tell a failed experiment with fail)"
        ) from None

