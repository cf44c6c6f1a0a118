"""Optuna's own solver for kurobako, with the multivariate TPE and otherwise Optuna's defaults, for versions of Optuna that it does not run with.

kurobako's Python package 0.2.1 ends each trial with a call of a private function of Optuna that writes a line to the log; in newer versions than 4.2 it takes
other arguments, and the solver ends at the first result. Here that function does nothing; all else is theirs.
"""

import warnings

import optuna
from kurobako import solver
from kurobako.solver.optuna import OptunaSolverFactory

optuna.Study._log_completed_trial = lambda *_: None


def create_study(seed):
    return optuna.create_study(sampler=optuna.samplers.TPESampler(multivariate=True, seed=seed))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    solver.SolverRunner(OptunaSolverFactory(create_study, name="TPE")).run()
