"""BoTorch as it comes today: a Gaussian process with the library's own kernel and priors, and log expected improvement.

Inputs in the unit cube, outputs standardised, one-hot categories, integers rounded. Known constraints restrict the
acquisition's optimiser: linear ones as such, other smooth ones as `nonlinear_inequality_constraints` (an equality as two
of them, a ten-millionth apart), each divided by the length of its gradient at the first point. It then starts from the
best of feasible points that leafgp gives and of those measured. Where a rounded optimum breaks a constraint, the numbers
that were rounded keep a starting point's values and the others are optimised again. With any other constraint use
`constraints = "penalty"`.
"""

import argparse
import warnings

from protocol import Optimizer, Refused, serve  # isort: skip  (claims standard output, so before the libraries)

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.exceptions.errors import CandidateGenerationError, OptimizationGradientError
from botorch.exceptions.warnings import BotorchWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from botorch.optim.initializers import initialize_q_batch
from botorch.optim.parameter_constraints import evaluate_feasibility
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.warnings import NumericalWarning

from encoding import Encoding
from feasible import FeasiblePoints
from linear import NotLinear, linear_constraints
from smooth import NotSmooth, smooth_constraints

RAW_SAMPLES = 512
# Feasible points to choose the starts from, beside the best ones measured.
FEASIBLE_SAMPLES = 128
KEPT = 8
# Half the band of an equality and the least slack of other smooth constraints, in the unit cube.
SLACK = 1e-7

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)  # the order of sums, and with it the points, must not depend on the machine
warnings.filterwarnings("ignore", category=BotorchWarning)
warnings.filterwarnings("ignore", category=NumericalWarning)
warnings.filterwarnings("ignore", category=RuntimeWarning)


class Constraints:
    """The constraints as `optimize_acqf` takes them, in the unit cube."""

    def __init__(self, start, encoding):
        self.encoding = encoding
        numbers = [v["name"] for v in start.variables if v["type"] != "categorical"]
        affine = [name for name in numbers if encoding.affine(name) is not None]
        self.inequalities, self.equalities, smooth = [], [], []
        for constraint in start.constraints:
            try:
                lists = linear_constraints(affine, start.define, [constraint])
            except NotLinear:
                smooth.append(constraint)
                continue
            for rows, functions in zip((self.inequalities, self.equalities), lists):
                rows.extend(row for row in map(self._row, functions) if row is not None)
        try:
            functions = smooth_constraints(affine, start.define, smooth)
        except NotSmooth as why:
            raise Refused(f'{why}; set constraints = "penalty" and a lambda for this method') from None
        self.affine = {name: encoding.affine(name) for name in affine}
        first = torch.from_numpy(encoding.encode(start.initial[0].point)) if start.initial else None
        self.smooth = [g for function in functions for g in self._scaled(function, first)]
        self.any = bool(self.inequalities or self.equalities or self.smooth)

    def _row(self, function):
        """(indices, coefficients, right side), the coefficients a vector of length 1."""
        row = self.encoding.row(function)
        if row is None:
            return None
        indices, coefficients, right = row
        length = float(np.linalg.norm(coefficients))
        return torch.tensor(indices), torch.tensor(coefficients) / length, right / length

    def _scaled(self, function, first):
        def plain(x):
            return function({name: a * x[..., i] + b for name, (i, a, b) in self.affine.items()}, torch)

        size = 1.0
        if first is not None:
            at = first.clone().requires_grad_()
            (slope,) = torch.autograd.grad(plain(at), at)
            length = float(slope.norm())
            size = length if 0.0 < length < float("inf") else 1.0
        if function.equality:
            return [lambda x: plain(x) / size + SLACK, lambda x: SLACK - plain(x) / size]
        return [lambda x: plain(x) / size - SLACK]

    def holds(self, vectors, tolerance=1e-9):
        """Which of the `n` vectors keep them."""
        return evaluate_feasibility(
            vectors[:, None, :],
            inequality_constraints=self.inequalities or None,
            equality_constraints=self.equalities or None,
            nonlinear_inequality_constraints=[(g, True) for g in self.smooth] or None,
            tolerance=tolerance,
        )

    def arguments(self):
        arguments = {
            "inequality_constraints": self.inequalities or None,
            "equality_constraints": self.equalities or None,
        }
        if self.smooth:
            arguments["nonlinear_inequality_constraints"] = [(g, True) for g in self.smooth]
            arguments["options"] = {"batch_limit": 1}
        return arguments


class BotorchLogEi(Optimizer):
    def __init__(self, start, restarts, leafgp):
        self.encoding = Encoding(start.variables)
        self.seed = start.seed
        self.constraints = Constraints(start, self.encoding)
        self.restarts = restarts
        self.feasible_points = FeasiblePoints(start, leafgp) if self.constraints.any else None
        # Coordinates that are rounded.
        numbers = [v for v in start.variables if self.encoding.affine(v["name"]) is not None]
        rounded = [v["name"] for v in numbers if v["type"] != "continuous" or "step" in v]
        self.rounded = [self.encoding.affine(name)[0] for name in rounded]
        self.inputs, self.costs, self.feasible = [], [], []
        for evaluation in start.initial:
            self.tell(evaluation)

    def ask(self):
        size = self.encoding.size
        outputs = -torch.tensor(self.costs)[:, None]  # BoTorch maximises
        starts = self._starts() if self.constraints.any else None
        if len(self.costs) < 2 or torch.all(outputs == outputs[0]):
            return self.encoding.decode((torch.rand(size) if starts is None else starts[0]).numpy())
        model = SingleTaskGP(torch.from_numpy(np.array(self.inputs)), outputs, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        known = outputs[torch.tensor(self.feasible)]
        acquisition = LogExpectedImprovement(model, best_f=known.max() if len(known) else outputs.max())
        bounds = torch.stack((torch.zeros(size), torch.ones(size)))
        if starts is None:
            best, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=self.restarts, raw_samples=RAW_SAMPLES)
            return self.encoding.decode(best[0].numpy())
        return self.encoding.decode(self._restricted(acquisition, bounds, starts).numpy())

    def _starts(self):
        """Feasible vectors: fresh ones of leafgp's, then the best measured."""
        fresh = self.feasible_points.points(FEASIBLE_SAMPLES, self.seed + 100_003 * len(self.inputs))
        order = sorted((i for i, holds in enumerate(self.feasible) if holds), key=lambda i: self.costs[i])
        vectors = [self.encoding.encode(point) for point in fresh] + [self.inputs[i] for i in order[:KEPT]]
        vectors = torch.from_numpy(np.array(vectors))
        kept = vectors[self.constraints.holds(vectors)]
        if not len(kept):
            raise Refused("none of leafgp's points keeps the constraints here")
        return kept

    def _restricted(self, acquisition, bounds, starts):
        """The best feasible vector that local searches from the most promising starts lead to."""
        with torch.no_grad():
            values = acquisition(starts[:, None, :])
            n = min(self.restarts, len(starts))
            chosen, _ = initialize_q_batch(starts[:, None, :], values, n=n)
            # What is found must be better than the best start.
            best, best_value = starts[values.argmax()], values.max()
        for fixed in [None, *chosen] if self.rounded else [None]:
            if fixed is not None and best_value > values.max():
                break
            found = self._search(acquisition, bounds, chosen if fixed is None else fixed[None], fixed)
            snapped = torch.from_numpy(np.array([self.encoding.snap(v.numpy()) for v in found])).reshape(-1, bounds.shape[1])
            snapped = snapped[self.constraints.holds(snapped, tolerance=1e-8)]
            if len(snapped):
                with torch.no_grad():
                    value, at = acquisition(snapped[:, None, :]).max(dim=0)
                if value > best_value:
                    best, best_value = snapped[at], value
        return best

    def _search(self, acquisition, bounds, starts, fixed):
        """Local optima, one for each start; with `fixed` the rounded coordinates stay."""
        held = None if fixed is None else {i: float(fixed[0, i]) for i in self.rounded}
        if held is not None and len(held) == bounds.shape[1]:
            return starts[:, 0]
        try:
            found, _ = optimize_acqf(
                acquisition,
                bounds,
                q=1,
                num_restarts=len(starts),
                batch_initial_conditions=starts,
                fixed_features=held,
                return_best_only=False,
                **self.constraints.arguments(),
            )
        except CandidateGenerationError:
            return starts[:, 0]
        except OptimizationGradientError:
            # A search went where a constraint is undefined; the others need not end with it.
            if len(starts) == 1:
                return starts[:, 0]
            return torch.cat([self._search(acquisition, bounds, start[None], fixed) for start in starts])
        return found[:, 0].detach()

    def tell(self, evaluation):
        self.inputs.append(self.encoding.encode(evaluation.point))
        self.costs.append(evaluation.cost)
        self.feasible.append(evaluation.feasible and not evaluation.failed)

    def close(self):
        if self.feasible_points is not None:
            self.feasible_points.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=10, help="of the acquisition's optimiser")
    parser.add_argument("--leafgp", default="leafgp", help="the program that gives feasible points")
    options = parser.parse_args()
    serve(lambda start: BotorchLogEi(start, options.restarts, options.leafgp))
