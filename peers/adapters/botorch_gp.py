"""BoTorch: a Gaussian process with a Matern 5/2 kernel, and UCB or EI, set up as in the paper.

Inputs in the unit cube, outputs standardised; beta = 1.96, 200 raw samples, 100 restarts without constraints and 5 with;
one-hot categories, integers rounded. Expected improvement is maximised through its logarithm (the same optimum,
numerically sound). Linear constraints over continuous and integer variables are native: they restrict the acquisition's
optimiser. With any other constraint use `constraints = "penalty"`.
"""

import argparse
import warnings

from protocol import Optimizer, Refused, serve  # isort: skip  (claims standard output, so before the libraries)

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.exceptions.warnings import BotorchWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.models.utils.gpytorch_modules import get_matern_kernel_with_gamma_prior
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from encoding import Encoding
from linear import NotLinear, linear_constraints

RAW_SAMPLES = 200
BETA = 1.96

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)  # the order of sums, and with it the points, must not depend on the machine
warnings.filterwarnings("ignore", category=BotorchWarning)


class BotorchGp(Optimizer):
    def __init__(self, start, acquisition, restarts):
        self.encoding = Encoding(start.variables)
        self.acquisition = acquisition
        self.inequalities, self.equalities = self._constraints(start)
        constrained = bool(self.inequalities or self.equalities)
        self.restarts = restarts or (5 if constrained or start.penalty is not None else 100)
        self.inputs = [self.encoding.encode(e.point) for e in start.initial]
        self.costs = [e.cost for e in start.initial]

    def _constraints(self, start):
        """Pairs of lists as `optimize_acqf` takes them: (indices, coefficients, right side), in the unit cube."""
        numbers = [v["name"] for v in start.variables if v["type"] != "categorical"]
        numbers = [name for name in numbers if self.encoding.affine(name) is not None]
        try:
            lists = linear_constraints(numbers, start.define, start.constraints)
        except NotLinear as why:
            raise Refused(f'{why}; set constraints = "penalty" and a lambda for this method') from None
        return tuple([row for row in map(self._row, functions) if row is not None] for functions in lists)

    def _row(self, function):
        row = self.encoding.row(function)
        if row is None:
            return None
        indices, coefficients, right = row
        return torch.tensor(indices), torch.tensor(coefficients), right

    def ask(self):
        if not self.inputs:
            return self.encoding.decode(torch.rand(self.encoding.size).numpy())
        inputs = torch.from_numpy(np.array(self.inputs))
        # BoTorch maximises.
        outputs = -torch.tensor(self.costs)[:, None]
        if len(self.costs) == 1 or torch.all(outputs == outputs[0]):
            return self.encoding.decode(torch.rand(self.encoding.size).numpy())
        size = self.encoding.size
        kernel = get_matern_kernel_with_gamma_prior(ard_num_dims=size)
        model = SingleTaskGP(inputs, outputs, covar_module=kernel, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        if self.acquisition == "ucb":
            acquisition = UpperConfidenceBound(model, beta=BETA)
        else:
            acquisition = LogExpectedImprovement(model, best_f=outputs.max())
        best, _ = optimize_acqf(
            acquisition,
            bounds=torch.stack((torch.zeros(size), torch.ones(size))),
            q=1,
            num_restarts=self.restarts,
            raw_samples=max(RAW_SAMPLES, self.restarts),
            inequality_constraints=self.inequalities or None,
            equality_constraints=self.equalities or None,
        )
        return self.encoding.decode(best[0].numpy())

    def tell(self, evaluation):
        self.inputs.append(self.encoding.encode(evaluation.point))
        self.costs.append(evaluation.cost)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--acquisition", choices=["ucb", "ei"], required=True)
    parser.add_argument("--restarts", type=int, help="of the acquisition's optimiser; default 100, 5 with constraints")
    options = parser.parse_args()
    serve(lambda start: BotorchGp(start, options.acquisition, options.restarts))
