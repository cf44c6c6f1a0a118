# %% [markdown]
# # A screen of catalysts
# Categories, whole numbers, listed loadings, and a co-solvent that is there only with one of the solvents. The problem goes to the plant's machine as a file.

# %%
import tempfile
from pathlib import Path

import leafgp

problem = leafgp.Problem(
    "coupling",
    {
        "ligand": leafgp.Categorical(["XPhos", "SPhos", "dppf", "PPh3"]),
        "base": leafgp.Categorical(["K2CO3", "Cs2CO3", "NEt3"]),
        "solvent": leafgp.Categorical(["toluene", "dioxane", "water"]),
        "loading": leafgp.Discrete([0.5, 1, 2, 5], unit="mol %"),
        "temperature": leafgp.Integer(40, 110, unit="degree Celsius"),
        "cosolvent": leafgp.Continuous(0.05, 0.4, active_if="solvent == 'water'", inactive_value=0.05),
    },
    objective="yield",
    goal="maximize",
    constraints={"boils": "solvent == 'water' implies temperature <= 95", "no mud": "not (base == 'NEt3' and solvent == 'water')"},
)


# %%
def measure(run):
    """The experiment, here a table and a formula."""
    ligand = {"XPhos": 60, "SPhos": 52, "dppf": 35, "PPh3": 20}[run["ligand"]]
    base = {"K2CO3": 10, "Cs2CO3": 16, "NEt3": 3}[run["base"]]
    solvent = {"toluene": 2, "dioxane": 8, "water": 20 * run["cosolvent"]}[run["solvent"]]
    return ligand + base + solvent + 2 * run["loading"] ** 0.5 - ((run["temperature"] - 85) / 12) ** 2


optimizer = leafgp.Optimizer(problem)
for _ in range(30):
    suggestion = optimizer.ask()
    optimizer.tell(suggestion, measure(suggestion.point))
print(optimizer.best())
assert optimizer.best().value > 75

# %% [markdown]
# The same problem and experiments for the command `leafgp suggest coupling.toml`:

# %%
with tempfile.TemporaryDirectory() as folder:
    problem.save(Path(folder) / "coupling.toml")
    (Path(folder) / "coupling.csv").write_text(optimizer.to_csv())
    again = leafgp.Optimizer(Path(folder) / "coupling.toml", Path(folder) / "coupling.csv")
    assert again.ask().to_dict() == optimizer.ask().to_dict()

# %%
assert optimizer.plot("parallel").startswith("<svg")
