"""Times leafgp's trainer beside LightGBM on the same data, in one run.

    python benches/peers/lightgbm.py [--rows 100 1000 100000 1000000] [--threads 1 2] [--repeats 5]

Both sides fit from a plain table in memory: LightGBM's time is building its Dataset plus training, and training alone is
reported too; leafgp's time is the whole of `gbdt::train`. Fits alternate, the medians are compared, in wall time and in processor time (steadier on a busy
machine). Needs
`cargo build --release --bench gbdt_peer` (run by the script) and the packages of requirements.txt.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def friedman(n_rows, n_cols, seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.random((n_rows, n_cols))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y + rng.normal(size=n_rows)


def parameters(preset, threads):
    base = {"objective": "regression", "num_threads": threads, "verbosity": -1, "deterministic": True, "force_col_wise": False}
    if preset == "paper":
        base |= {"max_depth": 3, "min_data_in_leaf": 1, "min_data_per_group": 1}
    return base, 50 if preset == "paper" else 100


def memory(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(key))


def lightgbm_worker(path, threads, repeats, preset):
    import lightgbm
    import numpy as np

    raw = np.fromfile(path, dtype="<f8")
    n_rows, n_cols = int(raw[0]), int(raw[1])
    x = raw[2 : 2 + n_rows * n_cols].reshape(n_rows, n_cols).copy()
    y = raw[2 + n_rows * n_cols :].copy()
    del raw
    params, rounds = parameters(preset, threads)
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # forget the peak of reading the file
    before, total, training, cpu, cpu_training = memory("VmRSS"), [], [], [], []
    for _ in range(repeats):
        start, cpu_start = time.perf_counter(), time.process_time()
        data = lightgbm.Dataset(x, y, params=params)
        data.construct()
        middle, cpu_middle = time.perf_counter(), time.process_time()
        booster = lightgbm.train(params, data, num_boost_round=rounds)
        end, cpu_end = time.perf_counter(), time.process_time()
        total.append(end - start)
        training.append(end - middle)
        cpu.append(cpu_end - cpu_start)
        cpu_training.append(cpu_end - cpu_middle)
    after = memory("VmHWM")
    rmse = float(np.sqrt(np.mean((booster.predict(x) - y) ** 2)))
    report = {"seconds": total, "training": training, "cpu": cpu, "cpu_training": cpu_training, "train_rmse": rmse, "trees": booster.num_trees()}
    print(json.dumps(report | {"memory_before": before, "memory_after": after}))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def build():
    command = ["cargo", "build", "--release", "--bench", "gbdt_peer", "--message-format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == "gbdt_peer" and message.get("executable"):
            return message["executable"]
    sys.exit("cargo did not report the gbdt_peer binary")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 1000, 100_000, 1_000_000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        path, threads, repeats, preset = options.worker
        return lightgbm_worker(path, int(threads), int(repeats), preset)
    import lightgbm

    binary = build()
    print(f"LightGBM {lightgbm.__version__}; seconds are medians; ratio = LightGBM / leafgp (above 1: leafgp is faster)")
    print("rows x columns, settings, threads | leafgp s | LightGBM s (training) | wall ratio (training only) | processor-time ratio (training only) | RMSE | memory MiB")
    for n_rows in options.rows:
        preset, n_cols = ("paper", 10) if n_rows <= 1000 else ("stock", 20)
        x, y = friedman(n_rows, n_cols, seed=n_rows)
        with tempfile.NamedTemporaryFile(suffix=".f64") as file:
            import numpy as np

            np.concatenate([[n_rows, n_cols], x.ravel(), y]).astype("<f8").tofile(file.name)
            del x, y
            for threads in options.threads:
                # A short fit is repeated within a process; processes alternate so that both meet the same neighbours.
                inner = 1 if n_rows >= 100_000 else 20
                ours, theirs = [], []
                for _ in range(options.repeats):
                    arguments = [file.name, str(threads), str(inner), preset]
                    ours.append(run([binary, *arguments]))
                    theirs.append(run([sys.executable, __file__, "--worker", *arguments]))
                def middle(reports, key):
                    return statistics.median(value for report in reports for value in report[key])

                own, own_cpu = middle(ours, "seconds"), middle(ours, "cpu")
                total, training = middle(theirs, "seconds"), middle(theirs, "training")
                cpu, cpu_training = middle(theirs, "cpu"), middle(theirs, "cpu_training")
                own_memory = min(r["memory_after"] - r["memory_before"] for r in ours)
                memory = min(r["memory_after"] - r["memory_before"] for r in theirs)
                print(
                    f"{n_rows} x {n_cols}, {preset}, {threads} | {own:.5f} | {total:.5f} ({training:.5f}) | "
                    f"{total / own:.2f} ({training / own:.2f}) | {cpu / own_cpu:.2f} ({cpu_training / own_cpu:.2f}), own {own_cpu:.5f} | "
                    f"{ours[0]['train_rmse']:.6f} / {theirs[0]['train_rmse']:.6f} | {own_memory:.0f} / {memory:.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
