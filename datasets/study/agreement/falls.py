"""The table of docs/uncertainty-study.md from the run files of a study: python falls.py target/agreement-plain"""

import json
import pathlib
import statistics
import sys


def records(path):
    return [r for r in map(json.loads, path.read_text().splitlines()[1:]) if r["error"] is not None]


for problem in sorted(pathlib.Path(sys.argv[1], "runs").iterdir()):
    runs = [records(path) for path in sorted((problem / "agreement").glob("*.jsonl"))]
    if not all(run and run[-1]["ratio"] >= 0.85 for run in runs):
        print(f"{problem.name}: not complete")
        continue
    # With few points no point at all may agree with each in so few trees.
    runs = [run for run in runs if run[0]["ratio"] <= 0.5]
    if not runs:
        print(f"{problem.name}: no answers for small ratios")
        continue
    low = [statistics.mean(r["error"] for r in run if r["ratio"] <= 0.5) for run in runs]
    high = [statistics.mean(r["error"] for r in run if r["ratio"] >= 0.85) for run in runs]
    median = lambda pick: statistics.median(pick(run) for run in runs)
    every = [r for run in runs for r in run]
    print(
        f"{problem.name}: error {statistics.median(low):.3f} (R <= 0.5), {statistics.median(high):.3f} (R >= 0.85),",
        f"falls in {sum(h < l for l, h in zip(low, high))} of {len(runs)};",
        f"agreement at the largest R {median(lambda run: run[-1]['agreement']):.2f};",
        f"std {median(lambda run: run[0]['std']):.3g} to {median(lambda run: run[-1]['std']):.3g};",
        f"signed error {statistics.mean((r['mean'] - r['value']) / abs(r['mean']) for r in every):.3f};",
        f"within two std {statistics.mean(abs(r['mean'] - r['value']) <= 2 * r['std'] for r in every):.2f}",
    )
