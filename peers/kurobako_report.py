"""The table of peers/kurobako.sh: medians of the best values by function, and on how many functions each solver is ahead.

    python3 peers/kurobako_report.py target/kurobako/studies.json

Functions whose studies are not complete are left out, and their number is said. Standard library only.
"""

import json
import math
import statistics
import sys
from collections import defaultdict

FIRST, SECOND = "leafgp", "TPE"
# Relative to the larger of 1 and the values.
TOLERANCE = 1e-6
# In units of the variables' ranges, the largest difference counts.
NEAR = 1e-4


def best_values(study):
    """The best value after each trial; worse than all where a trial had none."""
    best, course = math.inf, []
    for trial in study["trials"]:
        values = [value for evaluation in trial["evaluations"] for value in evaluation["values"]]
        best = min([best, *values])
        course.append(best)
    return course


def compare(a, b):
    """-1 where a is better, 0 where they are equal within TOLERANCE, 1 where b is better."""
    if a == b or abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b)):
        return 0
    return -1 if a < b else 1


def near_repeats(study):
    """How many points lie within NEAR of an earlier one, and how many there are; none where no variable is continuous."""
    ranges = [var["range"] for var in study["problem"]["spec"]["params_domain"]]
    if all(range_["type"] != "CONTINUOUS" for range_ in ranges):
        return 0, 0
    points = [trial["params"] for trial in study["trials"]]

    def near(one, other):
        return all(abs(a - b) <= NEAR * (r["high"] - r["low"]) for a, b, r in zip(one, other, ranges))

    return sum(any(near(point, earlier) for earlier in points[:i]) for i, point in enumerate(points)), len(points)


def sign_test(outcomes):
    better, worse = outcomes.count(-1), outcomes.count(1)
    n = better + worse
    p = min(1.0, 2.0 * sum(math.comb(n, i) for i in range(min(better, worse) + 1)) / 2.0**n)
    return f"{better} / {outcomes.count(0)} / {worse}, p {p:.2g}"


def main(path):
    runs = defaultdict(lambda: defaultdict(dict))
    repeats = defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for line in file:
            study = json.loads(line)
            name = study["problem"]["spec"]["name"].removeprefix("sigopt/evalset/")
            solver = study["solver"]["spec"]["name"]
            runs[name][solver][study["seed"]] = best_values(study)
            repeats[solver][name, study["seed"]] = near_repeats(study)
    seeds = {seed for solvers in runs.values() for own in solvers.values() for seed in own}
    complete = {name: own for name, own in runs.items() if all(own[solver].keys() == seeds for solver in (FIRST, SECOND))}
    print(f"{len(complete)} functions with {len(seeds)} runs a solver; {len(runs) - len(complete)} incomplete.\n")
    print(f"| function | {FIRST} | {SECOND} | |")
    print("|---|---|---|---|")
    for name, own in complete.items():
        first, second = (statistics.median(course[-1] for course in own[solver].values()) for solver in (FIRST, SECOND))
        word = {-1: "better", 0: "equal", 1: "worse"}[compare(first, second)]
        print(f"| {name} | {first:.6g} | {second:.6g} | {word} |")
    print(f"\n{FIRST} against {SECOND}, better / equal / worse, two-sided sign test:\n")
    n_trials = min(len(course) for own in complete.values() for solver in own.values() for course in solver.values())
    for n in (10, 20, 30, n_trials):
        medians, pairs = [], []
        for own in complete.values():
            first, second = own[FIRST], own[SECOND]
            medians.append(compare(*(statistics.median(course[n - 1] for course in one.values()) for one in (first, second))))
            pairs += [compare(first[seed][n - 1], second[seed][n - 1]) for seed in sorted(seeds)]
        print(f"- after {n} evaluations: medians by function {sign_test(medians)}; run by run {sign_test(pairs)}")
    print(f"\nPoints within {NEAR:g} of the ranges of an earlier one, where a variable is continuous:\n")
    for solver in (FIRST, SECOND):
        own = [count for (name, _), count in repeats[solver].items() if name in complete]
        print(f"- {solver}: {sum(count for count, _ in own)} of {sum(n for _, n in own)}")


if __name__ == "__main__":
    main(sys.argv[1])
