"""HEBO with its defaults: a Gaussian process on warped inputs and transformed outputs, three acquisitions at once, NSGA-II.

The first points take the place of its own random ones. It gets no constraints: use `constraints = "penalty"`.
"""

import argparse
import os
import warnings

from protocol import Optimizer, serve  # isort: skip  (claims standard output, so before the libraries)

os.environ.setdefault("MPLBACKEND", "agg")
warnings.filterwarnings("ignore")

import numpy as np
import pandas as pd
import torch
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from encoding import listed_values

torch.set_num_threads(1)  # the order of sums, and with it the points, must not depend on the machine


class _Axis:
    """A variable and its parameter; ordered lists and grids are represented by their index."""

    def __init__(self, variable, name):
        kind = variable["type"]
        self.name, self.values, self.make = name, listed_values(variable), float
        if kind == "categorical":
            self.make = str
            self.parameter = {"name": name, "type": "cat", "categories": variable["levels"]}
            return
        if self.values is not None:
            self.parameter = {"name": name, "type": "int", "lb": 0, "ub": len(self.values) - 1}
            return
        low, high = variable["bounds"]
        log = variable.get("scale") == "log"
        if kind == "integer":
            self.make = int
            self.parameter = {"name": name, "type": "pow_int" if log else "int", "lb": int(low), "ub": int(high)}
        else:
            self.parameter = {"name": name, "type": "pow" if log else "num", "lb": float(low), "ub": float(high)}

    def to_parameter(self, value):
        if self.values is None:
            return self.make(value)
        return min(range(len(self.values)), key=lambda i: abs(self.values[i] - float(value)))

    def to_value(self, parameter):
        if self.values is not None:
            return self.values[int(parameter)]
        if self.make is float:
            return min(max(float(parameter), self.parameter["lb"]), self.parameter["ub"])
        return self.make(parameter)


class Hebo(Optimizer):
    def __init__(self, start):
        start.require_box("HEBO")
        self.axes = {v["name"]: _Axis(v, f"x{i}") for i, v in enumerate(start.variables)}
        space = DesignSpace().parse([axis.parameter for axis in self.axes.values()])
        self.hebo = HEBO(space, rand_sample=len(start.initial), scramble_seed=start.seed % 2**31)
        for evaluation in start.initial:
            self.tell(evaluation)

    def ask(self):
        row = self.hebo.suggest().iloc[0]
        return {name: axis.to_value(row[axis.name]) for name, axis in self.axes.items()}

    def tell(self, evaluation):
        values = {axis.name: [axis.to_parameter(evaluation.point[name])] for name, axis in self.axes.items()}
        self.hebo.observe(pd.DataFrame(values), np.array([[evaluation.cost]]))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    serve(Hebo)
