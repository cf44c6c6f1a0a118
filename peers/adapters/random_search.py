"""Uniform random search over every type of variable: a starting point for an adapter of your own, standard library only.

Copy it, keep `sample` for the random first guesses most optimisers need, and write `ask` and `tell`.
"""

import math
import random

from protocol import Optimizer, serve


def sample(variable, rng):
    """A uniform value of one variable; uniform in the logarithm with `scale = "log"`."""
    kind = variable["type"]
    if kind == "categorical":
        return rng.choice(variable["levels"])
    if kind == "discrete":
        return rng.choice(variable["values"])
    if kind == "binary":
        return rng.randint(0, 1)
    low, high = variable["bounds"]
    log = variable.get("scale") == "log"
    if kind == "integer":
        if log:
            return min(max(round(math.exp(rng.uniform(math.log(low), math.log(high)))), low), high)
        return rng.randint(int(low), int(high))
    if "step" in variable:
        steps = round((high - low) / variable["step"])
        return min(low + rng.randint(0, steps) * variable["step"], high)
    if log:
        return min(max(math.exp(rng.uniform(math.log(low), math.log(high))), low), high)
    return rng.uniform(low, high)


class RandomSearch(Optimizer):
    def __init__(self, start):
        self.rng = random.Random(start.seed)
        self.variables = start.variables
        self.best = min((e.cost for e in start.initial if e.feasible), default=math.inf)

    def ask(self):
        return {variable["name"]: sample(variable, self.rng) for variable in self.variables}

    def tell(self, evaluation):
        if evaluation.feasible and not evaluation.failed:
            self.best = min(self.best, evaluation.cost)


if __name__ == "__main__":
    serve(RandomSearch)
