"""An Optuna sampler with known constraints, met exactly.

>>> import leafgp, optuna
>>> from leafgp.optuna import LeafgpSampler
>>> problem = leafgp.Problem("mix", {"a": leafgp.Continuous(0, 1), "b": leafgp.Continuous(0, 1)}, constraints=["a + b <= 1"])
>>> study = optuna.create_study(sampler=LeafgpSampler(problem))
>>> study.optimize(lambda trial: trial.suggest_float("a", 0, 1) - trial.suggest_float("b", 0, 1), n_trials=30)
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Mapping, Sequence

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ._errors import NoAnswer, ProblemError, RequestError
from ._optimizer import Optimizer
from ._problem import Problem
from ._variables import Binary, Categorical, Continuous, Discrete, Integer, Variable

# What a trial plans, and whether it has looked for others that plan the same.
POINT = "leafgp:point"
FINAL = "leafgp:final"
# Seconds that a trial waits for another one, which plans the same, to decide.
PATIENCE = 5.0
# How often a trial plans something else because another one plans the same.
TRIES = 20


class LeafgpSampler(BaseSampler):
    """Suggests trials by leafgp, under known constraints over the parameters.

    ``problem``: the parameters as a :class:`leafgp.Problem`, with constraints and conditional variables; its objective
    and goal are the study's. Without one the parameters are those that all finished trials share, and ``constraints``
    are about them. ``seed`` and ``settings`` as in a problem. Trials that run, of other workers and of sessions that
    were killed too, are pending experiments: no two trials get the same point while there are others.
    """

    def __init__(
        self,
        problem: Problem | None = None,
        *,
        constraints: Mapping[str, str] | Sequence[str] | None = None,
        seed: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        if problem is not None and not isinstance(problem, Problem):
            raise RequestError(f"problem: found a {type(problem).__name__}; expected a leafgp.Problem")
        if problem is not None and constraints is not None:
            raise RequestError("constraints: the problem has its own; give one of the two")
        self._problem = problem
        self._constraints = constraints
        self._settings = {**(settings or {}), **({} if seed is None else {"seed": seed})}
        self._independent = RandomSampler(seed=seed)
        self._common = optuna.search_space.IntersectionSearchSpace()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        if self._problem is not None:
            return {name: distribution_of(variable) for name, variable in self._problem.variables.items()}
        common = self._common.calculate(study)
        return {name: distribution for name, distribution in common.items() if not distribution.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if not search_space:
            return {}
        if len(study.directions) > 1:
            raise RequestError("a study of several objectives; expected one")
        problem = self._of_study(study, search_space)
        with self._lock:
            point = self._plan(study, trial, problem, search_space)
        return {name: _external(search_space[name], value) for name, value in point.items()}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def _of_study(self, study: Study, search_space: dict[str, BaseDistribution]) -> Problem:
        """The problem in the study's direction."""
        goal = "maximize" if study.direction == StudyDirection.MAXIMIZE else "minimize"
        if self._problem is not None:
            document = self._problem.to_dict()
            document = {
                **document,
                "name": self._problem.name,
                "objective": {**document["objective"], "goal": goal},
                "settings": {**document.get("settings", {}), **self._settings},
            }
            return Problem.from_dict(document)
        variables = {name: variable_of(name, distribution) for name, distribution in search_space.items()}
        name = "value"
        while name in variables:
            name += "_"
        return Problem(
            "study", variables, objective=name, goal=goal, constraints=self._constraints, settings=self._settings
        )

    def _plan(
        self, study: Study, trial: FrozenTrial, problem: Problem, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """A point that no other trial plans. Each worker writes its plan before it looks at those of others, so of two
        with the same at least one sees the other; the one with the lower number may keep it."""
        storage, trial_id = study._storage, trial._trial_id
        for _ in range(TRIES):
            optimizer = self._told(study, trial, problem, search_space)
            point = optimizer.ask(tree_excess=False).point
            storage.set_trial_system_attr(trial_id, POINT, json.dumps(point))
            deadline = time.monotonic() + PATIENCE
            while True:
                others = [other for other in study.get_trials(deepcopy=False) if other.number != trial.number]
                same = [other for other in others if _planned(other) == point]
                if not same or problem.settings["repeats"]:
                    storage.set_trial_system_attr(trial_id, FINAL, True)
                    return point
                if any(other.number < trial.number or other.system_attrs.get(FINAL) for other in same):
                    break
                if time.monotonic() > deadline:
                    break
                time.sleep(0.02)
        raise NoAnswer(f"other trials planned the same point {TRIES} times")

    def _told(
        self, study: Study, trial: FrozenTrial, problem: Problem, search_space: dict[str, BaseDistribution]
    ) -> Optimizer:
        """An optimiser that knows the other trials."""
        optimizer = Optimizer(problem)
        variables = problem.variables
        for other in study.get_trials(deepcopy=False):
            if other.number == trial.number:
                continue
            point = _point(other, variables, search_space)
            if point is None:
                continue
            if other.state == TrialState.COMPLETE:
                optimizer.tell(point, other.value)
            elif other.state == TrialState.FAIL or other.state == TrialState.PRUNED:
                optimizer.fail(point)
            else:
                optimizer.plan(point)
        return optimizer


def _planned(trial: FrozenTrial) -> dict[str, Any] | None:
    text = trial.system_attrs.get(POINT)
    return None if text is None else json.loads(text)


def _point(
    trial: FrozenTrial, variables: Mapping[str, Variable], search_space: Mapping[str, BaseDistribution]
) -> dict[str, Any] | None:
    """The point of a trial: what was planned, with the parameters that it had; ``None`` where a value is not known."""
    point = dict(_planned(trial) or {})
    for name, variable in variables.items():
        if name in trial.params:
            point[name] = _internal(search_space[name], trial.params[name])
        elif name not in point:
            if not hasattr(variable, "active_if"):
                return None
            point[name] = _inactive(variable)
    return {name: point[name] for name in variables}


def _inactive(variable: Any) -> Any:
    """The value where the condition does not hold, as the problem file has it by default."""
    if hasattr(variable, "inactive_value"):
        return variable.inactive_value
    if isinstance(variable, Categorical):
        return variable.levels[0]
    if isinstance(variable, Discrete):
        return variable.values[0]
    return 0 if isinstance(variable, Binary) or hasattr(variable, "or_zero") else variable.bounds[0]


def distribution_of(variable: Any) -> BaseDistribution:
    """What ``trial.suggest_...`` must ask for to get the variable's value.

    Continuous: ``suggest_float`` (with its step, or that of its decimals); Integer: ``suggest_int``; Binary:
    ``suggest_int(0, 1)``; Discrete and Categorical: ``suggest_categorical`` of the listed values.
    """
    is_log = getattr(variable, "scale", None) == "log"
    if isinstance(variable, Binary):
        return IntDistribution(0, 1)
    if isinstance(variable, Discrete):
        return CategoricalDistribution(tuple(variable.values))
    if isinstance(variable, Categorical):
        return CategoricalDistribution(tuple(variable.levels))
    lower, upper = variable.bounds
    if hasattr(variable, "or_zero"):
        lower, upper = min(lower, 0), max(upper, 0)
    if isinstance(variable, Integer):
        return IntDistribution(lower, upper, log=is_log, step=getattr(variable, "step", 1))
    step = getattr(variable, "step", None)
    return FloatDistribution(lower, upper, log=is_log and step is None, step=step)


def variable_of(name: str, distribution: BaseDistribution) -> Variable:
    """The variable of a parameter."""
    if isinstance(distribution, FloatDistribution):
        scale = "log" if distribution.log else None
        return Continuous(distribution.low, distribution.high, step=distribution.step, scale=scale)
    if isinstance(distribution, IntDistribution):
        scale = "log" if distribution.log else None
        step = distribution.step if distribution.step != 1 else None
        return Integer(distribution.low, distribution.high, step=step, scale=scale)
    if isinstance(distribution, CategoricalDistribution):
        return Categorical([_label(choice) for choice in distribution.choices])
    raise ProblemError(f"{name}: found a {type(distribution).__name__}; expected a float, an int or a categorical")


def _label(choice: Any) -> str:
    return choice if isinstance(choice, str) else repr(choice)


def _external(distribution: BaseDistribution, value: Any) -> Any:
    """The parameter of a variable's value."""
    if isinstance(distribution, CategoricalDistribution):
        if isinstance(value, str):
            return next(choice for choice in distribution.choices if _label(choice) == value)
        return next(choice for choice in distribution.choices if choice == value)
    return value


def _internal(distribution: BaseDistribution, value: Any) -> Any:
    """The variable's value of a parameter."""
    if not isinstance(distribution, CategoricalDistribution):
        return value
    numbers = all(isinstance(choice, (int, float)) and not isinstance(choice, bool) for choice in distribution.choices)
    return value if numbers and not isinstance(value, str) else _label(value)
