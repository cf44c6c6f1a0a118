# %% [markdown]
# # Known constraints in an Optuna study
# The sampler suggests only trials that keep the constraints; trials that run elsewhere count.

# %%
import optuna

import leafgp
from leafgp.optuna import LeafgpSampler

problem = leafgp.Problem(
    "network",
    {
        "layers": leafgp.Integer(1, 4),
        "width": leafgp.Integer(16, 512, scale="log"),
        "rate": leafgp.Continuous(1e-4, 1e-1, scale="log"),
        "optimizer": leafgp.Categorical(["adam", "sgd"]),
        "momentum": leafgp.Continuous(0.0, 0.99, active_if="optimizer == 'sgd'", inactive_value=0.0),
    },
    constraints={"memory": "layers * width <= 600"},
)


# %%
def objective(trial):
    layers = trial.suggest_int("layers", 1, 4)
    width = trial.suggest_int("width", 16, 512, log=True)
    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    kind = trial.suggest_categorical("optimizer", ["adam", "sgd"])
    momentum = trial.suggest_float("momentum", 0.0, 0.99) if kind == "sgd" else 0.0
    assert layers * width <= 600
    return abs(layers - 2) + (width / 200 - 1) ** 2 + (rate * 100 - 1) ** 2 + (0.2 if kind == "adam" else (momentum - 0.9) ** 2)


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(sampler=LeafgpSampler(problem, seed=1))
study.optimize(objective, n_trials=30)
print(study.best_params, study.best_value)
assert len({tuple(sorted(trial.params.items())) for trial in study.trials}) == 30
