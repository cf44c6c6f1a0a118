# %% [markdown]
# # A recipe by two trained models
# Strong enough and as cheap as can be, where one model says how strong and another how fast; with proof, and as a file for the plant.

# %%
import pathlib
import tempfile

import lightgbm
import pandas
from numpy.random import default_rng
from sklearn.ensemble import RandomForestRegressor

import leafgp

rng = default_rng(1)
table = pandas.DataFrame({"cement": rng.uniform(150, 500, 400), "ash": rng.uniform(0, 150, 400), "water": rng.uniform(130, 220, 400)})
ratio = table["water"] / (table["cement"] + 0.4 * table["ash"])
strength = 120 - 110 * ratio + rng.normal(scale=2, size=400)
hours = 4 + 9 * ratio - 0.004 * table["cement"] + rng.normal(scale=0.2, size=400)
strong = lightgbm.LGBMRegressor(n_estimators=40, num_leaves=8, verbosity=-1).fit(table, strength)
setting = RandomForestRegressor(20, max_depth=5, random_state=0).fit(table, hours)

# %%
recipe = leafgp.ModelProblem(
    "recipe",
    {name: leafgp.Continuous(*bounds, step=1) for name, bounds in [("cement", (150, 500)), ("ash", (0, 150)), ("water", (130, 220))]},
    models={"strength": strong, "hours": setting},
    objective="cost",
    expression="0.1 * cement + 0.04 * ash + 0.001 * water",
    goal="minimize",
    constraints={"strong enough": "strength >= 60", "not too slow": "hours <= 8"},
)
best = recipe.optimize()
print(best.point, best.value, best.bound, best.status)
assert best.status == "optimal" and best.predictions["strength"] >= 60 and best.predictions["hours"] <= 8
assert abs(strong.predict(pandas.DataFrame([best.point]))[0] - best.predictions["strength"]) < 1e-9

# %%
# What is in use today, and the smallest change after which it is strong enough.
today = {"cement": 250, "ash": 20, "water": 200}
near = recipe.reach(today, "strength", at_least=60)
print(near.changes, near.distance)
assert near.predictions["strength"] >= 60 and near.bound <= near.distance

# %%
# The plant's machine runs `leafgp optimize recipe.toml` on these files.
with tempfile.TemporaryDirectory() as folder:
    recipe.save(pathlib.Path(folder) / "recipe.toml")
    print(sorted(path.name for path in pathlib.Path(folder).iterdir()))
    again = leafgp.ModelProblem.from_file(pathlib.Path(folder) / "recipe.toml").optimize()
    assert (again.point, again.value) == (best.point, best.value)
