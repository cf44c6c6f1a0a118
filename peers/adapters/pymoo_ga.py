"""pymoo's genetic algorithm, population 10 as in the paper, everything else at its defaults.

Constraints are native: the algorithm compares points by total violation first, which the study tells with each value.
"""

import argparse

from protocol import Optimizer, serve  # isort: skip  (claims standard output, so before the libraries)

import numpy as np
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.repair import Repair

from encoding import Encoding


class _Snap(Repair):
    """Moves to allowed points, so that the elimination of duplicates sees what is evaluated."""

    def __init__(self, encoding):
        super().__init__()
        self.encoding = encoding

    def _do(self, problem, X, **kwargs):
        return np.array([self.encoding.snap(x) for x in X]).reshape(len(X), -1)


class PymooGa(Optimizer):
    def __init__(self, start, population=10):
        self.encoding = Encoding(start.variables)
        self.rng = np.random.default_rng(start.seed)
        self.n_constraints = len(start.constraints)
        self.repair = _Snap(self.encoding)
        self.problem = Problem(
            n_var=self.encoding.size, n_obj=1, n_ieq_constr=self.n_constraints, xl=0.0, xu=1.0
        )
        # The first generation: the first points (the best ones, when they are more than fit in), then uniform ones.
        known = sorted(start.initial, key=lambda e: (sum(e.violations), e.cost))[:population]
        self.generation = Population.create(*(self._individual(e) for e in known))
        self.queue = [self._random() for _ in range(population - len(known))]
        self.told = [self.generation[i] for i in range(len(self.generation))]
        self.algorithm = GA(pop_size=population, repair=self.repair)
        self.algorithm.setup(self.problem, termination=("n_gen", 10**9), seed=start.seed % 2**32, verbose=False)
        self.advanced = False

    def _random(self):
        return self.encoding.snap(self.rng.random(self.encoding.size))

    def _individual(self, evaluation):
        """A point with its value as the algorithm knows it."""
        individual = Population.new(X=self.encoding.encode(evaluation.point)[None, :])[0]
        individual.set("F", np.array([evaluation.cost]))
        violations = evaluation.violations
        if len(violations) != self.n_constraints:
            violations = [1.0] * self.n_constraints  # nothing is known about a point that failed
        individual.set("G", np.array(violations))
        individual.set("H", np.array([]))
        individual.evaluated.update(("F", "G", "H"))
        return individual

    def ask(self):
        if not self.queue:
            self._next_generation()
        return self.encoding.decode(self.queue[0])

    def tell(self, evaluation):
        if self.queue:
            self.queue.pop(0)
        self.told.append(self._individual(evaluation))

    def _next_generation(self):
        if self.told:
            if not self.advanced:
                # What the algorithm would sample is thrown away: its first generation is known.
                self.algorithm.ask()
                self.advanced = True
            self.algorithm.tell(infills=Population.create(*self.told))
            self.told = []
        offspring = self.algorithm.ask()
        self.queue = [] if offspring is None else [x.X for x in offspring]
        if not self.queue:
            # A small discrete space: no offspring is new.
            self.algorithm.termination.force_termination = False
            self.queue = [self._random()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--population", type=int, default=10)
    options = parser.parse_args()
    serve(lambda start: PymooGa(start, options.population))
