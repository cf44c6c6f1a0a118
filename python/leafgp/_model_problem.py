"""Several trained models in one problem."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, NamedTuple, Sequence, Union

from . import _leafgp
from ._ensemble import Ensemble, count_of, is_truth
from ._errors import InfeasibleError, Interrupted, ModelError, ProblemError, RequestError
from ._problem import Problem, Stated, goal_of, tables_of
from ._tables import record
from ._variables import Variable


class ModelsOptimum(NamedTuple):
    """The best input of several models: ``point``, ``value`` (of the objective), ``predictions`` by model, ``bound``
    (no feasible input has a better value: proved), ``gap``, ``status``, ``stop_reason``, ``cell`` (where no tree of any
    model changes its leaf), ``others`` (the next best cells), ``nodes``, ``seconds``."""

    point: Union[dict, None]
    value: Union[float, None]
    predictions: Union[dict, None]
    bound: Union[float, None]
    gap: Union[float, None]
    status: str
    stop_reason: str
    cell: Union[dict, None]
    others: list
    nodes: int
    seconds: float


class Reached(NamedTuple):
    """The nearest setting that reaches a target: ``point``, ``changes`` (``{name: {"from": .., "to": ..}}``),
    ``distance``, ``predictions`` by model, ``bound`` (no setting is nearer: proved), ``gap``, ``status``,
    ``stop_reason``, ``nodes``, ``seconds``."""

    point: Union[dict, None]
    changes: Union[dict, None]
    distance: Union[float, None]
    predictions: Union[dict, None]
    bound: Union[float, None]
    gap: Union[float, None]
    status: str
    stop_reason: str
    nodes: int
    seconds: float

    @property
    def value(self) -> float | None:
        """The distance."""
        return self.distance


class ModelProblem(Stated):
    """The best input of several trained models, under constraints on all of them, with proof: a problem file with
    ``[models]``.

    ``models``: by the names that expressions use, for what each library predicts. A model is an :class:`Ensemble`, an
    object of LightGBM, XGBoost or scikit-learn (as :meth:`Ensemble.of` takes it), or the path of a model file; or a
    table with ``model`` or ``file``, and ``by_position`` (features are the variables in their order, whatever their
    names) or, of a file, ``class``. ``expression``: what is optimised, such as ``"strength - 0.5 * cost"``;
    ``objective`` its name, ``goal`` ``"minimize"`` or ``"maximize"``. Variables, constraints, definitions and settings
    as in a :class:`Problem`; all expressions may name models.

    Raises :class:`ProblemError` and :class:`ModelError`.
    """

    _core: _leafgp.ModelProblem
    # The models that came as objects, and the folder of the others' files.
    _given: frozenset[str]
    _home: str | None

    def __init__(
        self,
        name: str,
        variables: Mapping[str, Variable],
        *,
        models: Mapping[str, Any],
        expression: str,
        goal: str,
        objective: str = "objective",
        constraints: Mapping[str, str] | Sequence[str] | None = None,
        define: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        entries, given = _entries(models)
        document = {
            "name": name,
            "objective": {"name": objective, "goal": goal_of(goal), "expression": expression},
            "variables": tables_of(variables),
            "models": entries,
            "define": define or None,
            "constraints": constraints or None,
            "settings": settings or None,
        }
        self._set(_leafgp.ModelProblem._from_document(document, _cores(given)), given, os.getcwd())

    def _set(self, core: _leafgp.ModelProblem, given: Iterable[str], home: str | None) -> None:
        self._core, self._given, self._home = core, frozenset(given), home

    @classmethod
    def _of(cls, core: _leafgp.ModelProblem, given: Iterable[str], home: str | None) -> ModelProblem:
        problem = cls.__new__(cls)
        problem._set(core, given, home)
        return problem

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ModelProblem:
        """Reads a problem file with ``[models]``, and the model files that it names, from its folder."""
        path = os.path.abspath(path)
        return cls._of(_leafgp.ModelProblem._from_file(path), (), os.path.dirname(path))

    @classmethod
    def from_toml(
        cls,
        text: str,
        file: str | os.PathLike[str] = "problem.toml",
        *,
        models: Mapping[str, Any] | None = None,
    ) -> ModelProblem:
        """Reads the text of a problem file; ``file`` is its name in messages, and its folder that of the models' files.
        ``models``: objects for some of the models, whose files are not read."""
        given = {name: Ensemble.of(model) for name, model in (models or {}).items()}
        core = _leafgp.ModelProblem._from_toml(text, os.fspath(file), _cores(given))
        return cls._of(core, given, os.path.dirname(os.path.abspath(file)))

    def to_toml(self) -> str:
        """The problem file, as the command ``leafgp optimize`` reads it; what was read from a file is as it stood there.
        :meth:`save` writes the files of the models that it names."""
        return super().to_toml()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the problem file, and beside it the files of the models: a model that came as an object in a format of
        leafgp's own, a model file as it is. Files that lie there already as read are left alone."""
        import shutil

        folder = os.path.dirname(os.path.abspath(path))
        models = self.models
        for name, entry in self.to_dict()["models"].items():
            target = os.path.join(folder, entry["file"])
            if name in self._given:
                models[name].save(target)
                continue
            source = os.path.join(self._home or folder, entry["file"])
            if os.path.realpath(source) != os.path.realpath(target):
                shutil.copyfile(source, target)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.to_toml())

    def with_settings(self, **settings: Any) -> ModelProblem:
        """The same problem with some settings changed; a table such as ``solver`` is merged."""
        core = _leafgp.ModelProblem._from_document(self._changed(settings), self._core._models())
        return self._of(core, self._given, self._home)

    @property
    def models(self) -> dict[str, Ensemble]:
        """The models by name."""
        return {name: Ensemble(core) for name, core in self._core._models()}

    @property
    def expression(self) -> str:
        """What is optimised."""
        return self._core.expression

    @property
    def goal(self) -> str:
        """``"minimize"`` or ``"maximize"``."""
        return self._core.goal

    def optimize(self, *, fixed: Mapping[str, Any] | None = None, top: int = 1) -> ModelsOptimum:
        """The feasible input with the best objective, with proof: the answer of ``leafgp optimize FILE.toml``.

        ``fixed``: values that variables must have. ``top``: how many of the best cells.

        Raises :class:`InfeasibleError`, :class:`RequestError`, :class:`ModelError`, and after Ctrl-C
        :class:`Interrupted` with what was found and proved.
        """
        answer, is_interrupted = self._core._optimize(fixed or {}, count_of(top))
        optimum = ModelsOptimum(**answer)
        if is_interrupted:
            raise Interrupted(optimum)
        return optimum

    def reach(
        self,
        x0: Mapping[str, Any],
        model: str | None = None,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        costs: Mapping[str, float] | None = None,
        fixed: Mapping[str, Any] | None = None,
    ) -> Reached:
        """The feasible setting nearest to ``x0`` where a model predicts ``at_least`` or ``at_most`` a target, with
        proof: the answer of ``leafgp reach FILE.toml``.

        ``model``: its name, needed where there are several. The distance is the sum of each variable's change by its
        whole range, 1 for another level, times its ``costs`` (1 by default).

        Raises :class:`InfeasibleError` with the best prediction that there is when none reaches the target: proved.
        """
        if (at_least is None) == (at_most is None):
            raise RequestError("expected one of at_least and at_most")
        if model is None:
            names = list(self.models)
            if len(names) > 1:
                raise RequestError(f"model is not given; expected one of {', '.join(names)}")
            model = names[0]
        target: Any = at_most if at_least is None else at_least
        if isinstance(target, (bool, str)) or not hasattr(target, "__float__"):
            raise RequestError(f"the target is {target!r}; expected a number")
        answer, is_interrupted = self._core._reach(
            record(x0), costs or {}, (model, at_least is not None, float(target)), fixed or {}
        )
        is_reached = answer.pop("reachable")
        reached = Reached(**answer)
        if is_interrupted:
            raise Interrupted(reached)
        if not is_reached:
            best = (reached.predictions or {}).get(model)
            raise InfeasibleError(f"no feasible setting reaches {target}; the best prediction is {best}")
        return reached

    def __eq__(self, other: object) -> bool:
        """The same sections, and models that predict the same."""
        if not isinstance(other, ModelProblem) or self.to_dict() != other.to_dict():
            return False
        mine, theirs = self.models, other.models
        return all(mine[name].to_bytes() == theirs[name].to_bytes() for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return _unpickled, (self.to_toml(), self.name, self.models, self._given, self._home)

    def __repr__(self) -> str:
        return f"ModelProblem({self.name!r}: {self.goal} {self.expression}; models: {', '.join(self.models)})"


def _unpickled(
    text: str, name: str, models: Mapping[str, Ensemble], given: frozenset[str], home: str | None
) -> ModelProblem:
    return ModelProblem._of(_leafgp.ModelProblem._from_toml(text, name, _cores(models)), given, home)


def optimize_models(
    models: Mapping[str, Any],
    problem: Problem,
    objective: str,
    *,
    maximize: bool,
    constraints: Mapping[str, str] | Sequence[str] = (),
    fixed: Mapping[str, Any] | None = None,
) -> ModelsOptimum:
    """The best input of an expression over variables and several trained models, with proof.

    ``models``: as :class:`ModelProblem` takes them, by the names that ``objective`` and ``constraints`` use, for
    instance ``"strength - 0.5 * cost"`` and ``"purity >= 0.95"``. ``problem``: the variables, constraints without
    models, and settings.

    Raises :class:`ModelError`, :class:`InfeasibleError`, and after Ctrl-C :class:`Interrupted`.
    """
    if not isinstance(problem, Problem):
        raise RequestError(f"problem: found a {type(problem).__name__}; expected a Problem")
    if not is_truth(maximize):
        raise RequestError(f"maximize is {maximize!r}; expected True or False")
    if isinstance(constraints, str):
        constraints = [constraints]
    try:
        over_models = of_problem(problem, models, objective, bool(maximize), constraints)
    except ProblemError as error:
        raise ModelError(str(error)) from None
    return over_models.optimize(fixed=fixed)


def of_problem(
    problem: Problem,
    models: Mapping[str, Any],
    expression: str,
    maximize: bool,
    constraints: Mapping[str, str] | Sequence[str] = (),
) -> ModelProblem:
    """A problem's variables, rules and settings with models and another objective."""
    entries, given = _entries(models)
    more = constraints if isinstance(constraints, Mapping) else {text: text for text in constraints}
    goal = "maximize" if maximize else "minimize"
    objective = unused(problem.objective, [*models, *problem.names])
    document = {
        "name": problem.name,
        **problem.to_dict(),
        "objective": {"name": objective, "goal": goal, "expression": expression},
        "models": entries,
        "constraints": {**problem.constraints, **more},
    }
    return ModelProblem._of(_leafgp.ModelProblem._from_document(document, _cores(given)), given, None)


def _entries(models: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Ensemble]]:
    """The section of the problem file, and the models that came as objects."""
    if not isinstance(models, Mapping):
        raise ProblemError(f"models: found a {type(models).__name__}; expected a dict of a model for each name")
    entries: dict[str, dict[str, Any]] = {}
    given: dict[str, Ensemble] = {}
    for name, model in models.items():
        entry = dict(model) if isinstance(model, Mapping) else {"model": model}
        if "model" in entry:
            model = entry.pop("model")
            if isinstance(model, (str, os.PathLike)):
                entry["file"] = model
            else:
                given[name] = Ensemble.of(model)
                taken = [other.get("file") for other in entries.values()]
                # A name of a file on any system.
                stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in str(name)) or "model"
                entry["file"] = next(file for file in _numbered(stem) if file not in taken)
        if isinstance(entry.get("file"), os.PathLike):
            entry["file"] = os.fspath(entry["file"])
        entries[name] = entry
    return entries, given


def _numbered(stem: str) -> Iterable[str]:
    yield f"{stem}.json"
    n = 2
    while True:
        yield f"{stem}-{n}.json"
        n += 1


def _cores(models: Mapping[str, Ensemble]) -> list[tuple[str, _leafgp.Ensemble]]:
    return [(name, model._core) for name, model in models.items()]


def unused(name: str, names: Iterable[str]) -> str:
    """A name that is not among the names."""
    while name in names:
        name += "_"
    return name
