"""SMAC3 with its random forest (the hyperparameter-optimisation facade), deterministic, everything else at its defaults.

The first points take the place of its initial design. It retrains its forest after every eighth point unless
`--retrain-after` says otherwise. It gets no constraints: use `constraints = "penalty"`.
"""

import argparse
import tempfile

from protocol import Optimizer, serve  # isort: skip  (claims standard output, so before the libraries)

from ConfigSpace import (
    CategoricalHyperparameter,
    Configuration,
    ConfigurationSpace,
    Constant,
    OrdinalHyperparameter,
    UniformFloatHyperparameter,
    UniformIntegerHyperparameter,
)
from smac import HyperparameterOptimizationFacade as Facade
from smac import Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue

from encoding import listed_values


class _Axis:
    """A variable and its hyperparameter; lists and grids are represented by their index."""

    def __init__(self, variable, name):
        kind = variable["type"]
        self.name = name
        self.values = listed_values(variable)
        self.make = float
        log = variable.get("scale") == "log"
        if kind == "categorical":
            self.values = variable["levels"]
        elif self.values is None and variable["bounds"][0] == variable["bounds"][1]:
            self.values = [variable["bounds"][0]]

        if self.values is not None and len(self.values) == 1:
            self.hyperparameter = Constant(name, 0)
        elif kind in ("categorical", "binary"):
            self.hyperparameter = CategoricalHyperparameter(name, list(range(len(self.values))))
        elif kind == "discrete":
            self.hyperparameter = OrdinalHyperparameter(name, list(range(len(self.values))))
        elif self.values is not None:
            self.hyperparameter = UniformIntegerHyperparameter(name, 0, len(self.values) - 1)
        elif kind == "integer":
            low, high = (int(bound) for bound in variable["bounds"])
            self.make = int
            self.hyperparameter = UniformIntegerHyperparameter(name, low, high, log=log)
        else:
            low, high = variable["bounds"]
            self.hyperparameter = UniformFloatHyperparameter(name, low, high, log=log)

    def to_parameter(self, value):
        if self.values is None:
            return self.make(value)
        if value in self.values:
            return self.values.index(value)
        return min(range(len(self.values)), key=lambda i: abs(self.values[i] - value))

    def to_value(self, parameter):
        return self.make(parameter) if self.values is None else self.values[int(parameter)]


class Smac3(Optimizer):
    def __init__(self, start, retrain_after):
        start.require_box("SMAC3")
        self.axes = {v["name"]: _Axis(v, f"x{i}") for i, v in enumerate(start.variables)}
        self.space = ConfigurationSpace(seed=start.seed % 2**31)
        self.space.add([axis.hyperparameter for axis in self.axes.values()])
        self.folder = tempfile.TemporaryDirectory(prefix="smac3-")
        scenario = Scenario(
            self.space,
            deterministic=True,
            # Never the reason to stop: the study counts.
            n_trials=start.iterations + 2 * len(start.initial) + 1,
            seed=start.seed % 2**31,
            output_directory=self.folder.name,
        )
        known = [(self._configuration(e.point), e.cost) for e in start.initial]
        self.smac = Facade(
            scenario,
            lambda config, seed=0: 0.0,
            initial_design=Facade.get_initial_design(
                scenario, n_configs=0, additional_configs=[config for config, _ in known]
            ),
            config_selector=Facade.get_config_selector(scenario, retrain_after=retrain_after),
            logging_level=False,
            overwrite=True,
        )
        # SMAC asks for its initial design itself, and is told what is known.
        costs = dict(known)
        self.seed = None
        for _ in costs:
            info = self.smac.ask()
            self.seed = info.seed
            self.smac.tell(info, TrialValue(cost=costs[info.config]), save=False)
        self.asked = None

    def _configuration(self, point):
        values = {axis.name: axis.to_parameter(point[name]) for name, axis in self.axes.items()}
        return Configuration(self.space, values=values)

    def ask(self):
        self.asked = self.smac.ask()
        self.seed = self.asked.seed
        return {name: axis.to_value(self.asked.config[axis.name]) for name, axis in self.axes.items()}

    def tell(self, evaluation):
        config = self._configuration(evaluation.point)
        asked, self.asked = self.asked, None
        same = asked is not None and asked.config == config
        info = asked if same else TrialInfo(config, seed=self.seed)
        self.smac.tell(info, TrialValue(cost=evaluation.cost), save=False)

    def close(self):
        self.folder.cleanup()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--retrain-after", type=int, default=8, help="points between two fits of the forest")
    options = parser.parse_args()
    serve(lambda start: Smac3(start, options.retrain_after))
