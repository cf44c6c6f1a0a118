"""Trained ensembles of other libraries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Mapping, NamedTuple, Sequence, Union

from . import _leafgp
from ._errors import Interrupted, ModelError, PointError, RequestError
from ._problem import Problem
from ._tables import float_array, is_array, is_frame, is_series, record, records
from ._variables import Categorical, Continuous, Variable

if TYPE_CHECKING:
    from ._model_problem import Reached


class Optimum(NamedTuple):
    """The best input of a model and its proof: ``point`` and ``value`` (what the library predicts there; ``None`` where
    none was found), ``bound`` (no input has a better value: proved), ``gap``, ``status``, ``stop_reason``, ``cell``
    (where no tree changes its leaf), ``others`` (the next best cells), ``nodes``, ``seconds``."""

    point: Union[dict, None]
    value: Union[float, None]
    bound: Union[float, None]
    gap: Union[float, None]
    status: str
    stop_reason: str
    cell: Union[dict, None]
    others: list
    nodes: int
    seconds: float


class Ensemble:
    """A trained ensemble of trees, exactly as its library predicts."""

    def __init__(self, core: _leafgp.Ensemble) -> None:
        if not isinstance(core, _leafgp.Ensemble):
            raise ModelError("make an Ensemble with from_lightgbm, from_xgboost, from_sklearn or from_file")
        self._core = core

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, class_index: int | None = None) -> Ensemble:
        """Reads a model file: LightGBM text, XGBoost JSON or UBJSON, CatBoost JSON, ONNX."""
        return cls(_leafgp.Ensemble._open(os.fspath(path), _class(class_index)))

    @classmethod
    def from_bytes(cls, content: bytes, *, class_index: int | None = None) -> Ensemble:
        """Reads the content of a model file."""
        return cls(_leafgp.Ensemble._read(content, _class(class_index)))

    @classmethod
    def of(cls, model: Any) -> Ensemble:
        """Whatever holds a trained ensemble: an :class:`Ensemble`, an object of LightGBM, XGBoost or scikit-learn, or the
        path of a model file."""
        if isinstance(model, Ensemble):
            return model
        if isinstance(model, (str, os.PathLike)):
            return cls.from_file(model)
        modules = {base.__module__.split(".")[0] for base in type(model).__mro__}
        if "xgboost" in modules:
            return cls.from_xgboost(model)
        if "lightgbm" in modules:
            return cls.from_lightgbm(model)
        if "sklearn" in modules:
            return cls.from_sklearn(model)
        raise _of_another_kind(model, "an Ensemble, a model of LightGBM, XGBoost or scikit-learn, or the path of its file")

    @classmethod
    def from_lightgbm(cls, model: Any, *, class_index: int | None = None) -> Ensemble:
        """A ``lightgbm.Booster``, or an estimator of LightGBM; as it predicts, up to its best iteration."""
        booster = getattr(model, "booster_", model) if hasattr(model, "fit") else model
        if not hasattr(booster, "model_to_string"):
            raise _of_another_kind(model, "a lightgbm.Booster or a fitted LGBMRegressor or LGBMClassifier")
        return cls.from_bytes(booster.model_to_string().encode(), class_index=class_index)

    @classmethod
    def from_xgboost(cls, model: Any, *, class_index: int | None = None) -> Ensemble:
        """An ``xgboost.Booster``, or an estimator of XGBoost; as it predicts: an estimator up to its best iteration."""
        booster = model
        if hasattr(model, "get_booster"):
            booster = model.get_booster()
            # Only training with early stopping leaves a best iteration, which an estimator predicts by.
            if getattr(model, "early_stopping_rounds", None):
                booster = booster[: booster.best_iteration + 1]
        if not hasattr(booster, "save_raw"):
            raise _of_another_kind(model, "an xgboost.Booster or a fitted XGBRegressor or XGBClassifier")
        return cls.from_bytes(bytes(booster.save_raw("json")), class_index=class_index)

    @classmethod
    def from_sklearn(cls, model: Any) -> Ensemble:
        """A fitted regressor or binary classifier of scikit-learn: GradientBoosting, HistGradientBoosting,
        RandomForest, ExtraTrees or DecisionTree, read from its arrays. A classifier's prediction is the probability of
        its second class."""
        from ._sklearn import arrays

        return cls(_leafgp.Ensemble._from_arrays(*arrays(model)))

    def to_bytes(self) -> bytes:
        """The ensemble as a file of leafgp's own, JSON, whatever it was made from; :meth:`from_bytes` and the command read
        it, and it predicts the same, bit for bit."""
        return self._core._write()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes :meth:`to_bytes`."""
        with open(path, "wb") as file:
            file.write(self.to_bytes())

    @property
    def features(self) -> list[dict[str, Any]]:
        """Of each feature its ``name``, its ``levels`` (``None`` for a number) and its ``range`` in the training data
        where the file has it."""
        return self._core.features

    @property
    def names(self) -> list[str]:
        """The features' names, in the order of arrays' columns."""
        return [feature["name"] for feature in self.features]

    @property
    def n_trees(self) -> int:
        return self._core.n_trees

    @property
    def n_leaves(self) -> int:
        return self._core.n_leaves

    def predict(self, x: Any) -> Any:
        """What the library predicts: of a point ``{name: value}`` a float, of a list of points a list, of a DataFrame
        or an array of shape ``(n, n_features)`` (a category as its code, NaN for a missing value) a numpy array."""
        if isinstance(x, Mapping) or is_series(x):
            return self._core._predict_points([_known(record(x))])[0]
        if is_array(x):
            return self._core._predict_array(float_array(x))
        if is_frame(x):
            import numpy

            missing = [name for name in self.names if name not in x.columns]
            if missing:
                raise ModelError(
                    f"no column is called {missing[0]!r}; the model's features: {self.names}; an array takes them in their order"
                )
            if all(feature["levels"] is None for feature in self.features):
                array = x[self.names].to_numpy()
                if array.dtype.kind in "fiub":
                    return self._core._predict_array(float_array(array))
            rows = records(x[self.names])
            return numpy.array(self._core._predict_points([_known(row) for row in rows]), dtype=numpy.float64)
        return self._core._predict_points([_known(row) for row in records(x)])

    def bounds_of(self, data: Any, *, by_position: bool = False) -> dict[str, Any]:
        """What a DataFrame, a list of dicts or an array of shape ``(n, n_features)`` spans: for each feature its smallest
        and largest value, or the levels that occur. ``by_position``: the columns of a DataFrame are the features in
        their order, and the bounds have the columns' names."""
        names, n = self.names, len(self.names)
        if is_array(data):
            array = float_array(data)
            if array.shape[1] != n:
                raise PointError(f"the array has {array.shape[1]} columns; expected {n}, one for each feature: {', '.join(names)}")
            columns = [[_text(value) for value in column] for column in array.T.tolist()]
            return self._core._bounds(list(zip(names, columns)))
        rows = [_known(row) for row in records(data)]
        there = [str(name) for name in (data.columns if is_frame(data) else dict.fromkeys(name for row in rows for name in row))]
        if by_position:
            if len(there) < n:
                raise ModelError(f"found {len(there)} columns; expected {n}, one for each feature: {', '.join(names)}")
            chosen = there[:n]
        else:
            chosen = names
            missing = [name for name in names if name not in there]
            if missing:
                raise ModelError(
                    f"no column is called {missing[0]!r}; the model's features: {names}; the columns: {there}; "
                    "by_position=True takes them in their order"
                )
        cells = [[_text(row.get(name)) for row in rows] for name in chosen]
        bounds = self._core._bounds(list(zip(names, cells)))
        return {column: bounds[name] for column, name in zip(chosen, names)}

    def optimize(
        self,
        where: Any,
        *,
        maximize: bool | None = None,
        constraints: Mapping[str, str] | Sequence[str] | None = None,
        fixed: Mapping[str, Any] | None = None,
        top: int = 1,
        by_position: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> Optimum:
        """The input with the largest or smallest prediction, with proof.

        ``where``: a :class:`Problem`; bounds by feature, ``{"x": (0, 1), "grade": ["A", "B"]}`` or variables; or the
        data that the model was trained on, a DataFrame or an array, whose box is taken. ``maximize``: needed unless a problem says
        so. ``constraints``: expressions over the features, beside bounds or data. ``fixed``: values that features must
        have. ``top``: how many of the best cells. ``by_position``: features are the variables in their order, whatever
        their names. ``settings``: such as ``{"solver": {"time_limit": 10, "gap": 1e-6}}``.

        Raises :class:`ModelError`, :class:`ProblemError`, :class:`InfeasibleError`, and after Ctrl-C
        :class:`Interrupted` with what was found and proved.
        """
        problem = self._where(where, constraints, settings, by_position)
        if maximize is None:
            if not isinstance(where, Problem):
                raise RequestError("maximize is not given; expected True or False")
            if problem.goal not in ("minimize", "maximize"):
                raise RequestError(
                    "the problem's goal is a target, which is not sought in a trained model; give maximize"
                )
            maximize = problem.goal == "maximize"
        if not is_truth(maximize):
            raise RequestError(f"maximize is {maximize!r}; expected True or False")
        answer, is_interrupted = self._core._optimize(
            problem._core, bool(maximize), fixed or {}, bool(by_position), count_of(top)
        )
        optimum = Optimum(**answer)
        if is_interrupted:
            raise Interrupted(optimum)
        return optimum

    def _where(self, where: Any, constraints: Any, settings: Any, by_position: bool) -> Problem:
        """The problem, or that of bounds, variables or data."""
        if isinstance(where, Problem):
            if constraints:
                raise RequestError("constraints: the problem has its own; give bounds, or a problem with them")
            return where.with_settings(**settings) if settings else where
        bounds = where if isinstance(where, Mapping) else self.bounds_of(where, by_position=by_position)
        variables = {name: _variable(name, bound) for name, bound in bounds.items()}
        objective = "prediction"
        while objective in variables:
            objective += "_"
        return Problem("model", variables, objective=objective, constraints=constraints, settings=settings)

    def reach(
        self,
        x0: Mapping[str, Any],
        where: Any,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        costs: Mapping[str, float] | None = None,
        constraints: Mapping[str, str] | Sequence[str] | None = None,
        fixed: Mapping[str, Any] | None = None,
        by_position: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> Reached:
        """The feasible setting nearest to ``x0`` whose prediction is ``at_least`` or ``at_most`` a target, with proof.

        The distance is the sum of each variable's change by its whole range, 1 for another level, times its ``costs``
        (1 by default). ``where``, ``constraints``, ``fixed``, ``by_position`` and ``settings`` as in :meth:`optimize`.

        Raises :class:`InfeasibleError` with the best prediction that there is when none reaches the target: proved.
        """
        from ._model_problem import of_problem, unused

        problem = self._where(where, constraints, settings, by_position)
        name = unused("prediction", [*problem.names, *problem.to_dict().get("define", {})])
        models = {name: {"model": self, "by_position": bool(by_position)}}
        over_model = of_problem(problem, models, name, at_least is not None)
        return over_model.reach(x0, name, at_least=at_least, at_most=at_most, costs=costs, fixed=fixed)

    def __reduce__(self) -> Any:
        return Ensemble.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"Ensemble({self.n_trees} trees, {self.n_leaves} leaves, features: {', '.join(self.names)})"


def is_truth(value: Any) -> bool:
    """True for a truth value of Python or numpy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def count_of(top: Any) -> int:
    """How many cells are asked for."""
    if isinstance(top, bool) or not hasattr(top, "__index__") or top < 1:
        raise RequestError(f"top is {top!r}; expected a whole number of at least 1")
    return int(top)


def _class(index: Any) -> int | None:
    if index is not None and (isinstance(index, bool) or not hasattr(index, "__index__") or not 0 <= index < 2**32):
        raise ModelError(f"class_index is {index!r}; expected the number of a class, from 0")
    return index


def _of_another_kind(model: Any, expected: str) -> ModelError:
    return ModelError(f"found a {type(model).__module__}.{type(model).__qualname__}; expected {expected}")


def _known(row: Any) -> Any:
    """A row without its missing values."""
    if not isinstance(row, Mapping):
        return row
    return {name: value for name, value in row.items() if value is not None and value == value}


def _text(value: Any) -> str:
    """A cell as text: a whole number without decimals, as codes of categories are."""
    if value is None or value != value:
        return ""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return str(int(value) if is_whole else value)


def _variable(name: str, bound: Any) -> Variable:
    if isinstance(bound, Variable):
        return bound
    if isinstance(bound, Iterable) and not isinstance(bound, str):
        values = list(bound)
        if len(values) == 2 and not any(isinstance(value, str) for value in values):
            return Continuous(*values)
        if values and all(isinstance(value, str) for value in values):
            return Categorical(values)
    raise RequestError(f"{name}: found {bound!r}; expected (lower, upper), a list of levels as text, or a variable")
