"""scikit-optimize with gradient-boosted trees or a random forest, everything else as in its `gbrt_minimize` and
`forest_minimize` (expected improvement, the best of 10000 random points).

It gets no constraints: use `constraints = "penalty"`.
"""

import argparse
import warnings

from protocol import Optimizer, serve  # isort: skip  (claims standard output, so before the libraries)

import skopt
from skopt.space import Categorical, Integer, Real

warnings.filterwarnings("ignore", category=UserWarning, module="skopt")


class _Axis:
    """A variable and its dimension; ordered lists and grids are represented by their index."""

    def __init__(self, variable):
        kind = variable["type"]
        self.values = None
        prior = "log-uniform" if variable.get("scale") == "log" else "uniform"
        if kind == "categorical":
            self.dimension = Categorical(variable["levels"])
        elif kind == "discrete":
            self.values = sorted(variable["values"])
        elif kind == "binary":
            self.values = [0, 1]
        elif kind == "integer":
            low, high = (int(bound) for bound in variable["bounds"])
            if low == high:
                self.values = [low]
            else:
                self.dimension = Integer(low, high, prior=prior)
        else:
            low, high = (float(bound) for bound in variable["bounds"])
            if "step" in variable:
                steps = round((high - low) / variable["step"])
                self.values = [min(low + i * variable["step"], high) for i in range(steps + 1)]
            elif low == high:
                self.values = [low]
            else:
                self.dimension = Real(low, high, prior=prior)
        if self.values is not None:
            many = len(self.values) > 1
            self.dimension = Integer(0, len(self.values) - 1) if many else Categorical([0])

    def to_dimension(self, value):
        if self.values is None:
            return value
        return min(range(len(self.values)), key=lambda i: abs(self.values[i] - float(value)))

    def to_value(self, coordinate):
        return coordinate if self.values is None else self.values[int(coordinate)]


class SkoptTrees(Optimizer):
    def __init__(self, start, model):
        start.require_box("scikit-optimize")
        self.names = [variable["name"] for variable in start.variables]
        self.axes = [_Axis(variable) for variable in start.variables]
        self.optimizer = skopt.Optimizer(
            [axis.dimension for axis in self.axes],
            base_estimator={"gbrt": "GBRT", "rf": "RF"}[model],
            acq_func="EI",
            n_initial_points=len(start.initial),
            random_state=start.seed % 2**32,
        )
        if start.initial:
            points = [self._to_list(e.point) for e in start.initial]
            self.optimizer.tell(points, [e.cost for e in start.initial])

    def _to_list(self, point):
        return [axis.to_dimension(point[name]) for name, axis in zip(self.names, self.axes, strict=True)]

    def ask(self):
        asked = zip(self.names, self.axes, self.optimizer.ask(), strict=True)
        return {name: axis.to_value(coordinate) for name, axis, coordinate in asked}

    def tell(self, evaluation):
        self.optimizer.tell(self._to_list(evaluation.point), evaluation.cost)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["gbrt", "rf"], required=True)
    options = parser.parse_args()
    serve(lambda start: SkoptTrees(start, options.model))
