"""Trains the two models of the recipe example on the UCI table "Concrete Compressive Strength" (Yeh 1998, CC BY 4.0).

    python train.py concrete.csv

Columns: Cement, BlastFurnaceSlag, FlyAsh, Water, Superplasticizer, CoarseAggregate, FineAggregate (kg/m3), Age (days), CompressiveStrength (MPa).
Writes strength.txt (LightGBM, all ages) and early.json (XGBoost, rows of at most 7 days, without the age).
"""

import sys

import lightgbm
import pandas
import xgboost

table = pandas.read_csv(sys.argv[1])
target = "CompressiveStrength"
inputs = table.drop(columns=target)

strength = lightgbm.LGBMRegressor(n_estimators=100, num_leaves=15, random_state=1, n_jobs=1, verbose=-1)
strength.fit(inputs, table[target])
strength.booster_.save_model("strength.txt")

young = table[table["Age"] <= 7]
early = xgboost.XGBRegressor(n_estimators=60, max_depth=3, random_state=1, n_jobs=1)
early.fit(young.drop(columns=[target, "Age"]), young[target])
early.save_model("early.json")
