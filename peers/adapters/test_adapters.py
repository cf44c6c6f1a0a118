"""Plays the study's side of the protocol with an adapter, on small problems; standard library only.

    python test_adapters.py                                   # the whole set, with this Python
    python test_adapters.py --iterations 5 pymoo_ga.py        # one adapter
    python test_adapters.py smac3.py --problems mixed          # one problem
    python test_adapters.py "my_program --with options"       # your own command

Checked are: every line of standard output is an answer, points are complete and allowed, the first points are not asked
for again as long as something else is left, the same seed gives the same points, another seed gives others (except for
adapters without random choices), a resumed run that is told moved points goes on, and the process ends after `stop`.
"""

import argparse
import json
import math
import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ADAPTERS = [
    "random_search.py",
    "pymoo_ga.py",
    "skopt_trees.py --model rf",
    "skopt_trees.py --model gbrt",
    "smac3.py",
    "botorch_gp.py --acquisition ucb --restarts 4",
    "botorch_gp.py --acquisition ei --restarts 4",
    "botorch_log_ei.py --restarts 3",
    "hebo_peer.py",
]
# Those that promise feasible points where they take constraints.
ALWAYS_FEASIBLE = ["botorch_log_ei.py"]
PROBLEMS = ["continuous", "mixed", "linear", "curved"]


def continuous():
    """A bowl in two variables, one of them on a logarithmic scale; maximised, to have both goals."""
    return {
        "name": "bowl",
        "objective": "objective",
        "goal": "maximize",
        "variables": [
            {"name": "x", "type": "continuous", "bounds": [-2.0, 3.0]},
            {"name": "rate", "type": "continuous", "bounds": [1e-4, 1.0], "scale": "log"},
        ],
        "define": [],
        "constraints": [],
    }, lambda p: (-((p["x"] - 1) ** 2) - (math.log10(p["rate"]) + 2) ** 2, [])


def mixed():
    """Every type of variable."""
    target = {"water": 0.0, "acetone": 1.0, "air": 2.5}
    return {
        "name": "mixed",
        "objective": "objective",
        "goal": "minimize",
        "variables": [
            {"name": "x", "type": "continuous", "bounds": [0.0, 1.0]},
            {"name": "share", "type": "continuous", "bounds": [0.1, 0.6], "step": 0.05},
            {"name": "n", "type": "integer", "bounds": [1, 9]},
            {"name": "flag", "type": "binary"},
            {"name": "dose", "type": "discrete", "values": [0, 12, 24, 48]},
            {"name": "solvent", "type": "categorical", "levels": list(target)},
        ],
        "define": [],
        "constraints": [],
    }, lambda p: (
        target[p["solvent"]]
        + (p["x"] - 0.3) ** 2
        + abs(p["share"] - 0.25)
        + 0.1 * abs(p["n"] - 4)
        + 0.2 * int(p["flag"])
        + 0.01 * abs(p["dose"] - 12),
        [],
    )


def linear():
    """Two linear constraints, one through a definition."""
    return {
        "name": "linear",
        "objective": "objective",
        "goal": "minimize",
        "variables": [
            {"name": "a", "type": "continuous", "bounds": [0.0, 2.0]},
            {"name": "b", "type": "continuous", "bounds": [0.0, 2.0]},
        ],
        "define": [{"name": "total", "expr": "a + b"}],
        "constraints": [
            {"name": "room", "expr": "total <= 1.5"},
            {"name": "balance", "expr": "0.5*a - b/4 >= -0.1"},
        ],
    }, lambda p: (
        (p["a"] - 1) ** 2 - p["b"],
        [max(p["a"] + p["b"] - 1.5, 0.0), max(-0.1 - (0.5 * p["a"] - p["b"] / 4), 0.0)],
    )


def curved():
    """Two constraints that are not linear, over reals and a whole number."""
    return {
        "name": "curved",
        "objective": "objective",
        "goal": "minimize",
        "variables": [
            {"name": "a", "type": "continuous", "bounds": [0.0, 2.0]},
            {"name": "b", "type": "continuous", "bounds": [0.0, 2.0]},
            {"name": "n", "type": "integer", "bounds": [1, 4]},
        ],
        "define": [{"name": "area", "expr": "a*b"}],
        "constraints": [
            {"name": "circle", "expr": "a^2 + b^2 <= 2"},
            {"name": "enough", "expr": "area*n >= 0.5"},
        ],
    }, lambda p: (
        p["n"] + (p["a"] - 1) ** 2 - p["b"],
        [max(p["a"] ** 2 + p["b"] ** 2 - 2, 0.0), max(0.5 - p["a"] * p["b"] * p["n"], 0.0)],
    )


class Study:
    """The study's side: starts a command and keeps its conversation."""

    def __init__(self, command, make, seed, penalty, iterations):
        self.problem, self.black_box = make()
        self.penalty = penalty
        shown = dict(self.problem)
        if penalty is not None:
            shown["constraints"] = []
        rng = random.Random(f"first points {seed}")
        self.first = [self.random_point(rng) for _ in range(5)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None,
            text=True, cwd=FOLDER,
        )
        start = {
            "type": "start", "protocol": 1, "run": "test", "seed": seed, "iterations": iterations, "problem": shown,
            "constraints": "exact" if penalty is None else "penalty",
            "initial": [self.result(p) for p in self.first],
        }
        if penalty is not None:
            start["lambda"] = penalty
        self.send(start)
        self.answer("ready")

    def random_point(self, rng):
        """A uniform point of the box that keeps the constraints; the problems here have many."""
        while True:
            point = {}
            for v in self.problem["variables"]:
                if "levels" in v:
                    point[v["name"]] = rng.choice(v["levels"])
                elif "values" in v:
                    point[v["name"]] = rng.choice(v["values"])
                elif v["type"] == "binary":
                    point[v["name"]] = rng.random() < 0.5
                elif v["type"] == "integer":
                    point[v["name"]] = rng.randint(*v["bounds"])
                elif "step" in v:
                    steps = round((v["bounds"][1] - v["bounds"][0]) / v["step"])
                    point[v["name"]] = round(v["bounds"][0] + rng.randint(0, steps) * v["step"], 9)
                else:
                    point[v["name"]] = rng.uniform(*v["bounds"])
            if not any(self.black_box(point)[1]):
                return point

    def result(self, point):
        value, violations = self.black_box(point)
        feasible = all(v <= 1e-6 for v in violations)
        if self.penalty is not None:
            value += self.penalty * sum(v * v for v in violations)
            violations = []
        return {"point": point, "value": value, "feasible": feasible, "violations": violations}

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def answer(self, expected):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the process ended where {expected!r} was expected\n{self.words()}")
        answer = json.loads(line)
        assert answer.get("type") == expected, f"expected {expected!r}, got {line.strip()}\n{self.words()}"
        return answer

    def words(self):
        self.process.kill()
        return self.process.stderr.read()[-2000:] if self.process.stderr else ""

    def check(self, point):
        """The point as the study takes it: allowed values, within rounding."""
        variables = {v["name"]: v for v in self.problem["variables"]}
        assert point.keys() == variables.keys(), f"wrong names in {point}"
        moved = {}
        for name, v in variables.items():
            value = point[name]
            if "levels" in v:
                assert value in v["levels"], f"{name} = {value!r} is no level"
                moved[name] = value
                continue
            value = float(value)
            if "values" in v:
                moved[name] = min(v["values"], key=lambda allowed: abs(allowed - value))
                assert abs(moved[name] - value) < 1e-9, f"{name} = {value} is not allowed"
                continue
            low, high = v.get("bounds", (0, 1))
            assert low - 1e-9 <= value <= high + 1e-9, f"{name} = {value} is outside {low}..{high}"
            moved[name] = min(max(value, low), high)
            if v["type"] == "integer":
                moved[name] = round(value)
                assert abs(moved[name] - value) < 1e-9, f"{name} = {value} is not whole"
            elif v["type"] == "binary":
                moved[name] = value == 1.0
                assert value in (0.0, 1.0), f"{name} = {value} is not binary"
            elif "step" in v:
                moved[name] = round(low + round((value - low) / v["step"]) * v["step"], 9)
                assert abs(moved[name] - value) < 1e-9, f"{name} = {value} is off the grid"
        return moved

    def step(self, replay=None, fail=False):
        """One round of ask and tell; `replay` is told in place of what was asked."""
        self.send({"type": "ask"})
        point = self.check(self.answer("point")["point"])
        result = self.result(replay if replay is not None else point)
        if fail:
            result["value"] = None
        self.send({"type": "tell", **result})
        return point, result

    def stop(self):
        self.send({"type": "stop"})
        self.process.stdin.close()
        rest = self.process.stdout.read()
        assert rest == "", f"after stop the process wrote {rest!r}"
        assert self.process.wait(timeout=60) == 0, "the process did not end well"
        if self.process.stderr:
            self.process.stderr.close()


def refuses_constraints(command, make):
    """Whether an adapter says that it needs a penalty."""
    try:
        Study(command, make, 1, None, 1).stop()
    except AssertionError as error:
        assert "penalty" in str(error), error
        return True
    return False


def test(name, iterations, problems):
    path = FOLDER / name.split()[0]
    command = [sys.executable, *shlex.split(name)] if path.is_file() else shlex.split(name)
    refused = [make for make in (linear, curved) if refuses_constraints(command, make)]
    cases = [(continuous, None), (mixed, None), (linear, 10.0)]
    cases += [(make, None) for make in (linear, curved) if make not in refused]
    for make, penalty in cases:
        if make.__name__ not in problems:
            continue
        began = time.monotonic()
        study = Study(command, make, 101, penalty, iterations)
        steps = [study.step(fail=i == 3) for i in range(iterations)]
        study.stop()
        seconds = time.monotonic() - began
        points = [point for point, _ in steps]
        assert not any(point in study.first for point in points), "a first point was asked for again"

        again = Study(command, make, 101, penalty, iterations)
        repeated = [again.step(fail=i == 3)[0] for i in range(iterations)]
        again.stop()
        assert repeated == points, "the same seed gave other points"

        other = Study(command, make, 102, penalty, iterations)
        differs = [other.step()[0] for _ in range(iterations)] != points
        other.stop()
        assert differs, "another seed gave the same points"

        # Points that are not those asked for, as in a resumed run of a process that cannot repeat itself.
        resumed = Study(command, make, 103, penalty, iterations)
        for point in points:
            resumed.step(replay=point)
        resumed.step()
        resumed.stop()

        results = [study.result(p) for p in study.first] + [result for _, result in steps]
        feasible = [r["value"] for r in results if r["feasible"] and r["value"] is not None]
        best = (max if study.problem["goal"] == "maximize" else min)(feasible)
        kept = sum(r["feasible"] for _, r in steps)
        promised = name.split()[0] in ALWAYS_FEASIBLE and penalty is None
        assert kept == iterations or not promised, f"{iterations - kept} infeasible points in {make.__name__}"
        mode = "exact" if penalty is None else f"penalty {penalty:g}"
        label = f"{study.problem['name']}, {mode}"
        print(f"ok  {name:46} {label:22} best {best:9.4f}  feasible {kept}/{iterations}  {seconds:6.1f} s", flush=True)
    for make in refused:
        print(f"ok  {name:46} refuses {make.__name__}, exact", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapters", nargs="*", default=ADAPTERS)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=PROBLEMS)
    parser.add_argument("--show-stderr", action="store_true", help="let the adapters' standard error through")
    options = parser.parse_args()
    quiet = not options.show_stderr
    failed = 0
    for adapter in options.adapters:
        try:
            test(adapter, options.iterations, options.problems)
        except AssertionError as error:
            failed += 1
            print(f"FAILED  {adapter}: {error}", flush=True)
    sys.exit(1 if failed else 0)
