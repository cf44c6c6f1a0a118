# %% [markdown]
# # A mixture with constraints
# Three parts that add up to 1, dosed in steps, and a limit on the cost. Every suggestion keeps the constraints, proved and as printed.

# %%
import leafgp

problem = leafgp.Problem(
    "resin",
    {
        "monomer": leafgp.Continuous(0.2, 0.8, decimals=3),
        "filler": leafgp.Continuous(0.0, 0.5, decimals=3),
        "additive": leafgp.Continuous(0.01, 0.2, decimals=3, or_zero=True),
        "cure": leafgp.Continuous(60, 160, decimals=0, unit="degree Celsius"),
    },
    objective="strength",
    goal="maximize",
    constraints={
        "whole": "monomer + filler + additive == 1",
        "cost": "9 * monomer + 2 * filler + 30 * additive <= 7.5",
        "thick needs heat": "filler >= 0.4 implies cure >= 100",
    },
)


# %%
def strength(mix):
    """The experiment, here a formula."""
    heat = 1 - ((mix["cure"] - 120) / 80) ** 2
    return 40 * heat * (mix["monomer"] + 2 * mix["additive"]) + 60 * mix["filler"] * (0.55 - mix["filler"])


result = leafgp.minimize(strength, problem, n=30)
print(result.point, result.value)

# %%
for row in result.optimizer.observations():
    assert problem.is_feasible(row["point"]), row
    assert abs(row["point"]["monomer"] + row["point"]["filler"] + row["point"]["additive"] - 1) < 1e-9
print(result.optimizer.promise().sentence)
first = result.optimizer.observations()[:5]
assert result.value > max(row["value"] for row in first)
