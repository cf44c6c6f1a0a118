"""Bayesian optimisation over mixed variables with known constraints, and proven optima of trained tree ensembles.

>>> import leafgp
>>> problem = leafgp.Problem(
...     "coating",
...     {"bake": leafgp.Continuous(60, 180, unit="degree Celsius"), "resin": leafgp.Categorical(["A", "B", "C"])},
...     objective="gloss", goal="maximize", constraints={"A is cool": "resin == 'A' implies bake <= 120"},
... )
>>> optimizer = leafgp.Optimizer(problem)
>>> suggestion = optimizer.ask()
>>> optimizer.tell(suggestion.point, 71.5)
>>> optimizer.best().value
71.5
"""

from ._ensemble import Ensemble, Optimum
from ._errors import (
    HistoryError,
    InfeasibleError,
    InternalError,
    Interrupted,
    LeafgpError,
    ModelError,
    NoAnswer,
    NoCandidate,
    NoIncumbent,
    NoModelError,
    PointError,
    ProblemError,
    RequestError,
    SpaceExhausted,
)
from ._leafgp import __version__
from ._minimize import Result, minimize
from ._model_problem import ModelProblem, ModelsOptimum, Reached, optimize_models
from ._optimizer import Best, Model, Optimizer, Prediction, Promise, Suggestion, Svg
from ._problem import Problem
from ._variables import Binary, Categorical, Continuous, Discrete, Integer, Variable

__all__ = [
    "Best",
    "Binary",
    "Categorical",
    "Continuous",
    "Discrete",
    "Ensemble",
    "HistoryError",
    "InfeasibleError",
    "Integer",
    "InternalError",
    "Interrupted",
    "LeafgpError",
    "Model",
    "ModelError",
    "ModelProblem",
    "ModelsOptimum",
    "NoAnswer",
    "NoCandidate",
    "NoIncumbent",
    "NoModelError",
    "Optimizer",
    "Optimum",
    "PointError",
    "Prediction",
    "Problem",
    "ProblemError",
    "Promise",
    "Reached",
    "RequestError",
    "Result",
    "SpaceExhausted",
    "Suggestion",
    "Svg",
    "Variable",
    "__version__",
    "minimize",
    "optimize_models",
]
