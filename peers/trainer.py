"""Times leafgp's trainer beside LightGBM on the same tables, and their memory, in one run.

    python peers/trainer.py [--rows 50 100 200 100000 1000000] [--threads 1 2] [--fits N]

For each table and number of threads one process per trainer loads the table and then fits on request; fits alternate, and the medians of
the ratios of neighbouring fits are printed, so that foreign load hits both alike. Two times are compared: the whole fit, and training alone,
without the construction of LightGBM's Dataset and without leafgp's checks and binning. The README beside this file says how memory is
measured. Needs cargo (the script builds the `gbdt_peer` bench) and the packages of requirements.txt.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Between two fits, so that spinning threads of one trainer have gone to sleep before the other starts.
PAUSE_SECONDS = 0.01


def friedman(n_rows, n_cols, seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.random((n_rows, n_cols))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y + rng.normal(size=n_rows)


def parameters(preset, threads):
    base = {"objective": "regression", "num_threads": threads, "verbosity": -1}
    if preset.startswith("paper"):
        base |= {"max_depth": 3, "min_data_in_leaf": 1, "min_data_per_group": 1}
    if preset == "paper, bins of 1":
        base |= {"min_data_in_bin": 1}
    return base, 50 if preset.startswith("paper") else 100


def memory(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(key))


def forget_peak():
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")


def lightgbm_worker(path, threads, preset):
    """Fits once for each line of the standard input; the protocol of the gbdt_peer bench."""
    import lightgbm
    import numpy as np

    raw = np.fromfile(path, dtype="<f8")
    n_rows, n_cols = int(raw[0]), int(raw[1])
    x = raw[2 : 2 + n_rows * n_cols].reshape(n_rows, n_cols).copy()
    y = raw[2 + n_rows * n_cols :].copy()
    del raw
    params, rounds = parameters(preset, threads)
    for _ in sys.stdin:
        forget_peak()
        before = memory("VmRSS")
        start, cpu_start = time.perf_counter(), time.process_time()
        data = lightgbm.Dataset(x, y, params=params)
        data.construct()
        middle, cpu_middle = time.perf_counter(), time.process_time()
        booster = lightgbm.train(params, data, num_boost_round=rounds)
        end, cpu_end = time.perf_counter(), time.process_time()
        report = {
            "seconds": end - start,
            "training": end - middle,
            "cpu": cpu_end - cpu_start,
            "cpu_training": cpu_end - cpu_middle,
            "memory": memory("VmHWM") - before,
            "trees": booster.num_trees(),
        }
        # Predictions of a large table would disturb the measured memory of the next fit; a part of the rows tells enough.
        report["rmse"] = float(np.sqrt(np.mean((booster.predict(x[:10_000]) - y[:10_000]) ** 2)))
        del data, booster
        print(json.dumps(report), flush=True)


class Worker:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def fit(self):
        time.sleep(PAUSE_SECONDS)
        self.process.stdin.write("fit\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a worker ended: {self.process.args}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def build():
    command = ["cargo", "build", "--release", "--bench", "gbdt_peer", "--message-format", "json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == "gbdt_peer" and message.get("executable"):
            return message["executable"]
    sys.exit("cargo did not report the gbdt_peer binary")


def compare(binary, path, threads, preset, n_fits):
    """Reports of alternating fits; the first of each process is for memory and to warm up."""
    ours = Worker([binary, path, str(threads), preset])
    theirs = Worker([sys.executable, __file__, "--worker", path, str(threads), preset])
    warm = ours.fit(), theirs.fit()
    pairs = []
    for turn in range(n_fits):
        # Who goes first alternates.
        pairs.append((ours.fit(), theirs.fit()) if turn % 2 == 0 else (theirs.fit(), ours.fit())[::-1])
    ours.close()
    theirs.close()
    return warm, pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 100, 200, 100_000, 1_000_000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--fits", type=int, help="pairs of fits; default 200 up to 1000 rows, 7 at 1e5, 3 beyond")
    parser.add_argument("--binary", help="a gbdt_peer binary built before")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        path, threads, preset = options.worker
        return lightgbm_worker(path, int(threads), preset)
    import lightgbm
    import numpy as np

    binary = options.binary or build()
    print(f"LightGBM {lightgbm.__version__}; ratio = LightGBM / leafgp, above 1 leafgp is faster; whole fit (training alone)\n")
    print("| rows x columns, settings | threads | leafgp ms | LightGBM ms | wall ratio | processor ratio | memory MiB leafgp / LightGBM | training RMSE leafgp / LightGBM |")
    print("|---|---|---|---|---|---|---|---|")
    for n_rows in options.rows:
        small = n_rows <= 1000
        n_cols = 10 if small else 20
        n_fits = options.fits or (200 if small else 7 if n_rows <= 100_000 else 3)
        x, y = friedman(n_rows, n_cols, seed=n_rows)
        with tempfile.NamedTemporaryFile(suffix=".f64") as file:
            np.concatenate([[n_rows, n_cols], x.ravel(), y]).astype("<f8").tofile(file.name)
            del x, y
            for preset in ["paper", "paper, bins of 1"] if small else ["stock"]:
                for threads in options.threads:
                    warm, pairs = compare(binary, file.name, threads, preset, n_fits)
                    ratio = lambda key: statistics.median(their[key] / own[key] for own, their in pairs)
                    middle = lambda side, key: 1e3 * statistics.median(pair[side][key] for pair in pairs)
                    if warm[0]["trees"] != warm[1]["trees"]:
                        sys.exit(f"{warm[0]['trees']} trees beside {warm[1]['trees']}: not the same work")
                    print(
                        f"| {n_rows} x {n_cols}, {preset} | {threads} | {middle(0, 'seconds'):.3f} ({middle(0, 'training'):.3f}) "
                        f"| {middle(1, 'seconds'):.3f} ({middle(1, 'training'):.3f}) "
                        f"| {ratio('seconds'):.2f} ({ratio('training'):.2f}) "
                        f"| {ratio('cpu'):.2f} ({ratio('cpu_training'):.2f}) "
                        f"| {warm[0]['memory']:.1f} / {warm[1]['memory']:.1f} | {warm[0]['rmse']:.6f} / {warm[1]['rmse']:.6f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
