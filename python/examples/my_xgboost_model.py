# %% [markdown]
# # The best input of my XGBoost model
# A model that was trained elsewhere, its best input under constraints, and the proof that there is no better one.

# %%
import numpy
import pandas
import xgboost

import leafgp

rng = numpy.random.default_rng(7)
table = pandas.DataFrame(rng.uniform([100, 0, 150, 1], [500, 200, 250, 90], size=(600, 4)), columns=["cement", "ash", "water", "age"])
strength = 90 * table["cement"] / table["water"] / 3 + 6 * numpy.log(table["age"]) - 0.02 * table["ash"] + rng.normal(size=600)
model = xgboost.XGBRegressor(n_estimators=60, max_depth=3, learning_rate=0.2).fit(table, strength)

# %%
ensemble = leafgp.Ensemble.from_xgboost(model)
assert numpy.allclose(ensemble.predict(table), model.predict(table), rtol=1e-6)
best = ensemble.optimize(
    table, maximize=True, constraints={"binder": "cement + ash <= 450", "wet": "water >= 0.45 * (cement + ash)"}, fixed={"age": 28.0}
)
print(best.point, best.value, best.status)

# %% [markdown]
# No row of the table that keeps the constraints is predicted to be better, nor any of 100,000 random points:

# %%
assert best.status == "optimal" and best.point["age"] == 28
points = pandas.DataFrame(rng.uniform(table.min(), table.max(), size=(100_000, 4)), columns=table.columns).assign(age=28.0)
allowed = points[(points.cement + points.ash <= 450) & (points.water >= 0.45 * (points.cement + points.ash))]
assert model.predict(allowed).max() <= best.bound * (1 + 1e-6)
