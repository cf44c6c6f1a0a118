# %% [markdown]
# # A batch, while experiments are running
# Four at a time, one oven temperature for the whole batch; what is planned counts, what fails is not tried again.

# %%
import leafgp

problem = leafgp.Problem(
    "bread",
    {
        "oven": leafgp.Integer(180, 260, unit="degree Celsius"),
        "water": leafgp.Continuous(0.5, 0.9, decimals=2),
        "flour": leafgp.Categorical(["wheat", "rye", "spelt"]),
    },
    objective="score",
    goal="maximize",
    constraints={"wet rye": "flour == 'rye' implies water >= 0.65"},
    settings={"design": {"initial": 8}},
)


def bake(loaf):
    """The experiment, here a formula; too wet a dough has no score."""
    if loaf["water"] > 0.85:
        return None
    flour = {"wheat": 0.0, "rye": 1.0, "spelt": 0.5}[loaf["flour"]]
    return 10 + flour - ((loaf["oven"] - 225) / 20) ** 2 - ((loaf["water"] - 0.7) / 0.1) ** 2


# %%
optimizer = leafgp.Optimizer(problem)
for _ in range(6):
    batch = optimizer.ask(4, same=["oven"], pending=True)
    assert len({suggestion["oven"] for suggestion in batch}) == 1
    for suggestion in batch:
        score = bake(suggestion.point)
        if score is None:
            optimizer.fail(suggestion)
        else:
            optimizer.tell(suggestion, score)

# %%
points = [tuple(row["point"].values()) for row in optimizer.observations()]
assert len(points) == len(set(points)) == 24
print(optimizer.best())
assert optimizer.best().value > 9
