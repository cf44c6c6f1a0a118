"""What several tests need."""

import os
import random
import subprocess

import pytest

import leafgp


@pytest.fixture
def command():
    """Runs the command `leafgp`, where `LEAFGP_COMMAND` names it."""
    path = os.environ.get("LEAFGP_COMMAND")
    if not path:
        pytest.skip("LEAFGP_COMMAND does not name the command")

    def run(*arguments):
        return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)

    return run


@pytest.fixture
def shared():
    """The folder of the reference data, where `LEAFGP_SHARED` names it."""
    path = os.environ.get("LEAFGP_SHARED")
    if not path or not os.path.isdir(path):
        pytest.skip("LEAFGP_SHARED does not name the folder of reference data")
    return path


@pytest.fixture
def coating():
    return leafgp.Problem(
        "coating",
        {
            "bake": leafgp.Continuous(60, 180, unit="degree Celsius"),
            "layers": leafgp.Integer(1, 3),
            "gap": leafgp.Continuous(1.0, 9.0, active_if="layers >= 2", inactive_value=1.0),
            "resin": leafgp.Categorical(["A", "B", "C"]),
            "dose": leafgp.Discrete([0, 12, 24, 48]),
            "primer": leafgp.Binary(),
        },
        objective="gloss",
        goal="maximize",
        constraints={"A is cool": "resin == 'A' implies bake <= 120", "budget": "bake / 60 + layers <= 5"},
        settings={"design": {"initial": 8}, "seed": 3},
    )


def gloss(point):
    """A measurement of the coating."""
    resin = {"A": 3.0, "B": 1.0, "C": 2.0}[point["resin"]]
    return resin * point["bake"] / 60 - (point["dose"] - 20) ** 2 / 300 + point["layers"] * 0.3 + 0.1 * point["gap"]


def measured(problem, n, f=gloss):
    """An optimiser after `n` suggestions were measured."""
    optimizer = leafgp.Optimizer(problem)
    for _ in range(n):
        suggestion = optimizer.ask(tree_excess=False)
        optimizer.tell(suggestion, f(suggestion.point))
    return optimizer


def random_problem(seed):
    """Any problem: kinds, names, numbers and settings at random."""
    rng = random.Random(seed)
    letters = "abcXYZ09_-. äß'\"\\%$#µ"
    text = lambda: "".join(rng.choice(letters) for _ in range(rng.randint(1, 8))).strip() or "a"  # noqa: E731
    number = lambda: rng.choice([rng.uniform(-9, 9), rng.randint(-50, 50), rng.uniform(0, 1) * 10 ** rng.randint(-8, 8)])  # noqa: E731

    def bounds(positive=False):
        lower, upper = sorted([number(), number()])
        if positive:
            lower, upper = sorted([abs(lower) + 1e-3, abs(upper) + 1e-3])
        return (lower, upper) if lower < upper else (lower, lower + 1.5)

    def variable():
        common = {"unit": text()} if rng.random() < 0.3 else {}
        kind = rng.randrange(8)
        if kind == 0:
            return leafgp.Continuous(*bounds(), **common)
        if kind == 1:
            return leafgp.Continuous(*bounds(positive=True), scale="log", **common)
        if kind == 2:
            lower = round(rng.uniform(-5, 5), 2)
            return leafgp.Continuous(lower, round(lower + rng.uniform(1, 9), 2), step=0.05, **common)
        if kind == 3:
            return leafgp.Continuous(rng.randint(-5, 0), rng.randint(1, 9), decimals=rng.randint(0, 4), **common)
        if kind == 4:
            lower = rng.randint(1, 5)
            return leafgp.Integer(lower, lower + rng.randint(1, 90), or_zero=rng.random() < 0.5, **common)
        if kind == 5:
            return leafgp.Binary(**common)
        if kind == 6:
            return leafgp.Discrete(sorted({number() for _ in range(5)}), **common)
        levels = list(dict.fromkeys(text() for _ in range(6)))
        return leafgp.Categorical(levels + ["one more", "and another"], **common)

    names = []
    while len(names) < rng.randint(1, 6):
        name = text()
        if name not in names and name.lower() not in ("status", "objective"):
            names.append(name)
    variables = {name: variable() for name in names}
    variables["first"] = leafgp.Continuous(0, 1)
    variables["second"] = leafgp.Continuous(0, 1, active_if="first <= 0.5", inactive_value=0.25)
    return leafgp.Problem(
        text(),
        variables,
        objective="objective",
        goal=rng.choice(["minimize", "maximize", number()]),
        constraints=rng.choice([None, {text(): "first + second <= 1.25"}, ["first >= 0.125", "second <= 0.5 or first <= 0.75"]]),
        define=rng.choice([None, {"total": "first + second"}, {"twice": {"expr": "2 * first", "integer": False}}]),
        settings=rng.choice([None, {"seed": rng.randint(0, 2**53)}, {"preset": "paper", "solver": {"gap": rng.random()}}]),
    )
