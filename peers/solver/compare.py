"""Compares `leafgp solve` with other solvers on the same instances, in one run; ratios of CPU seconds in one table.

    python peers/solver/compare.py acquisition [--instances FOLDER] [--classes m10 m25 ...] [--peers scip gurobi]
    python peers/solver/compare.py mean [--trees 100 1000] [--depths 3 6] [--peers scip highs cpsat]

Common options: --leafgp BINARY, --time-limit CPU_SECONDS (each solver), --gap G, --repeats N, --out STEM (writes STEM.csv line by
line and STEM.md), --resume (keep the lines of STEM.csv). Every solve is a process of its own on one thread. For leafgp the whole
process counts (start, reading, factorisation, search), and it runs before and after each peer; the median counts. For a peer only
the solver's own call counts. Exit code 1 when two proofs contradict each other.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ensembles  # noqa: E402
from instance import Instance  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = {"scip": "pyscipopt", "highs": "highspy", "cpsat": "ortools", "gurobi": "gurobipy"}
LABELS = {"scip": "SCIP", "highs": "HiGHS", "cpsat": "CP-SAT", "gurobi": "Gurobi"}
# Wall seconds allowed per CPU second, for a machine that others use too.
PATIENCE = 60.0
# Linear algebra inside the peers (Ipopt's, numpy's) keeps to one thread too.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
COLUMNS = ["instance", "class", "solver", "version", "status", "objective", "bound", "nodes", "cpu_s", "process_cpu_s", "ratio", "note"]


def run(command, cpu_limit=None):
    """Runs a process; returns (standard output, standard error, its CPU seconds, exit code).

    At `cpu_limit` it is interrupted (SIGINT, where the system lets its CPU clock be read); the wall clock never decides.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=os.environ | ONE_THREAD)
        clock = (~process.pid << 3) | 2
        sent = False
        while True:
            pid, status, used = os.wait4(process.pid, 0 if cpu_limit is None else os.WNOHANG)
            if pid:
                break
            time.sleep(0.01)
            try:
                over = time.clock_gettime(clock) > cpu_limit
            except OSError:
                over = False
            if over and not sent:
                os.kill(process.pid, signal.SIGINT)
                sent = True
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return out.read().decode(), err.read().decode(), used.ru_utime + used.ru_stime, process.returncode


def leafgp(binary, path, limit, gap):
    command = [binary, "solve", str(path), "--format", "json", "--quiet", "--threads", "1", "--gap", repr(gap)]
    out, err, used, code = run(command + ["--time-limit", repr(PATIENCE * limit)], limit)
    try:
        report = json.loads(out)
    except json.JSONDecodeError:
        return {"status": "failed", "objective": None, "bound": None, "nodes": None, "note": f"exit {code}: {err.strip()[-200:]}"}, used
    if report["status"] != "optimal" and report["stop_reason"] in ("interrupted", "time_limit"):
        report["status"] = "time_limit"
    return report, used


def peer(name, path, limit, gap):
    command = [sys.executable, str(HERE / "peer.py"), name, str(path), "--time-limit", repr(limit), "--gap", repr(gap)]
    out, err, used, code = run(command)
    if code == -signal.SIGXCPU:
        return {"status": "time_limit", "objective": None, "bound": None, "nodes": None, "cpu_s": used}, used
    try:
        return json.loads(out.strip().splitlines()[-1]), used
    except (json.JSONDecodeError, IndexError):
        reason = (err.strip().splitlines() or ["no output"])[-1]
        return {"status": "failed", "objective": None, "bound": None, "nodes": None, "cpu_s": used, "note": f"exit {code}: {reason[-200:]}"}, used


def class_of(name):
    match = re.search(r"-m(\d+)-t(\d+)d(\d+)", name)
    if not match:
        return "other"
    points, trees, depth = match.groups()
    if int(points) >= 300 or trees not in ("50", "100"):
        return f"t{trees}d{depth}"
    return f"m{points}" if (trees, depth) == ("50", "3") else f"m{points}-t{trees}d{depth}"


def contradictions(instance, ours, theirs, gap):
    """What cannot be true of two correct solvers; tolerances: the peers' own feasibility tolerance of 1e-6 on the cone."""
    notes = []
    if ours["objective"] is not None:
        own = instance.value_at(ours["x"])
        if abs(own - ours["objective"]) > 1e-7 * max(1.0, abs(own)):
            notes.append(f"value at leafgp's x is {own!r}, reported {ours['objective']!r}")
    slack = 1e-5 * max(1.0, abs(ours["objective"] or 0.0))
    if theirs["objective"] is not None and ours["bound"] is not None and theirs["objective"] < ours["bound"] - 1e-9:
        notes.append(f"leafgp's bound {ours['bound']!r} is above the peer's point {theirs['objective']!r}")
    if ours["objective"] is not None and theirs["bound"] is not None and ours["objective"] < theirs["bound"] - slack:
        notes.append(f"the peer's bound {theirs['bound']!r} is above leafgp's point {ours['objective']!r}")
    if ours["status"] == theirs["status"] == "optimal":
        width = gap * max(abs(ours["objective"]), abs(theirs["objective"])) + slack
        if abs(ours["objective"] - theirs["objective"]) > width:
            notes.append(f"optima differ: {ours['objective']!r} and {theirs['objective']!r}")
    return notes


def repeat(args, path, times):
    runs = []
    for _ in range(times):
        runs.append(leafgp(args.leafgp, path, args.time_limit, args.gap))
        if runs[-1][0]["status"] != "optimal":
            break
    return runs


def compare_one(args, path, rows):
    instance = Instance.read(path)
    name, kind = instance.name, class_of(instance.name)
    times, ours, last = [], None, []
    for p in args.peers:
        # A run that hit its limit is not repeated: it would say the same again.
        stopped = ours is not None and ours["status"] != "optimal"
        before = last if stopped else repeat(args, path, (args.repeats + 1) // 2)
        ours = before[0][0]
        theirs, process = peer(p, path, args.time_limit, args.gap)
        last = before + (repeat(args, path, args.repeats // 2) if ours["status"] == "optimal" else [])
        here = [used for _, used in last]
        times += here
        notes = contradictions(instance, ours, theirs, args.gap) + ([theirs["note"]] if "note" in theirs else [])
        rows.append(
            {
                "instance": name,
                "class": kind,
                "solver": p,
                "version": theirs.get("solver", ""),
                "status": theirs["status"],
                "objective": theirs["objective"],
                "bound": theirs["bound"],
                "nodes": theirs["nodes"],
                "cpu_s": theirs["cpu_s"],
                "process_cpu_s": process,
                "ratio": theirs["cpu_s"] / statistics.median(here),
                "note": "; ".join(notes),
            }
        )
    used = statistics.median(times)
    own = {key: ours.get(key) for key in ("status", "objective", "bound", "nodes")}
    line = {"instance": name, "class": kind, "solver": "leafgp", "version": args.version, "cpu_s": used, "process_cpu_s": used}
    rows.append(line | own | {"ratio": 1.0, "note": ours.get("note", "")})


def show(value, digits=6):
    return "-" if value in (None, "") else f"{float(value):.{digits}g}"


def ratio_text(pairs):
    """Sum over sum; `>` when a peer was stopped, `<` when leafgp was, `?` when both were on some instance."""
    total = sum(float(theirs["cpu_s"]) for _, theirs in pairs) / sum(float(ours["cpu_s"]) for ours, _ in pairs)
    peer_open = any(theirs["status"] != "optimal" for _, theirs in pairs)
    own_open = any(ours["status"] != "optimal" for ours, _ in pairs)
    sign = {(True, False): "> ", (False, True): "< ", (True, True): "? "}.get((peer_open, own_open), "")
    return sign + (f"{total:.0f}" if total >= 100 else f"{total:.3g}")


def tables(rows, peers):
    by_instance = {}
    for row in rows:
        by_instance.setdefault(row["instance"], {})[row["solver"]] = row
    present = [p for p in peers if any(p in found for found in by_instance.values())]
    lines = ["| instance | leafgp CPU s | " + " | ".join(f"{LABELS[p]} CPU s | ratio" for p in present) + " | objective: leafgp | bound | "]
    lines[0] += " | ".join(f"objective: {LABELS[p]} | bound" for p in present) + " |"
    lines.append("|" + "---|" * (4 + 4 * len(present)))

    def seconds(row):
        stop = {"optimal": "", "time_limit": " (limit)"}.get(row["status"], f" ({row['status']})")
        return f"{float(row['cpu_s']):.3g}{stop}"

    for name, found in by_instance.items():
        ours = found["leafgp"]
        cells = [name, seconds(ours)]
        for p in present:
            cells += [seconds(found[p]), ratio_text([(ours, found[p])])] if p in found else ["-", "-"]
        cells += [show(ours["objective"], 8), show(ours["bound"], 8)]
        for p in present:
            cells += [show(found[p]["objective"], 8), show(found[p]["bound"], 8)] if p in found else ["-", "-"]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "| class | instances | leafgp CPU s | closed | " + " | ".join(f"{LABELS[p]} CPU s | closed | ratio" for p in present) + " |"]
    lines.append("|" + "---|" * (4 + 3 * len(present)))
    for kind in list(dict.fromkeys(row["class"] for row in rows)) + ["all"]:
        group = [f for f in by_instance.values() if kind in ("all", f["leafgp"]["class"])]

        def total(solver):
            mine = [f[solver] for f in group if solver in f]
            closed = sum(row["status"] == "optimal" for row in mine)
            return [f"{sum(float(row['cpu_s']) for row in mine):.3g}", f"{closed} of {len(mine)}"]

        cells = [kind, str(len(group))] + total("leafgp")
        for p in present:
            pairs = [(f["leafgp"], f[p]) for f in group if p in f]
            cells += total(p) + [ratio_text(pairs) if pairs else "-"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def finish(args, rows):
    text = tables(rows, args.peers) if rows else ""
    versions = sorted({row["version"] for row in rows if row["version"]})
    text += "\nVersions: " + ", ".join(versions) + f". Limit {args.time_limit:g} CPU s, relative gap {args.gap:g}.\n"
    pathlib.Path(f"{args.out}.md").write_text(text, encoding="utf-8")
    print(text)
    bad = [f"{row['instance']}, {row['solver']}: {row['note']}" for row in rows if row["note"]]
    for note in bad:
        print("FINDING", note)
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    acquisition = modes.add_parser("acquisition", help="mean and deviation: the second-order-cone model")
    mean = modes.add_parser("mean", help="kappa = 0 on large ensembles: the linear model")
    acquisition.add_argument("--instances", default=str(ROOT / "../shared/instances/plain"))
    acquisition.add_argument("--classes", nargs="+", help="such as m10 m25 m50 m100 m50-t100d5 (default all)")
    acquisition.add_argument("--per-class", type=int, help="only the first so many of each class")
    mean.add_argument("--folder", help="where the ensembles are kept (default: a temporary folder)")
    ensembles.add_arguments(mean)
    for sub, peers, limit in ((acquisition, ["scip", "gurobi"], 100.0), (mean, ["scip", "highs", "cpsat"], 20.0)):
        sub.add_argument("--peers", nargs="+", choices=MODULES, default=peers)
        sub.add_argument("--leafgp", default=str(ROOT / "target/release/leafgp"))
        sub.add_argument("--time-limit", type=float, default=limit, help="CPU seconds of each solve")
        sub.add_argument("--gap", type=float, default=1e-4)
        sub.add_argument("--repeats", type=int, default=4, help="runs of leafgp around each peer")
        sub.add_argument("--out", default=f"solver-{sub.prog.split()[-1]}")
        sub.add_argument("--resume", action="store_true")
    args = parser.parse_args()

    for p in list(args.peers):
        if subprocess.run([sys.executable, "-c", f"import {MODULES[p]}"], capture_output=True).returncode:
            print(f"{LABELS[p]} is skipped: the package {MODULES[p]} is not installed", file=sys.stderr)
            args.peers.remove(p)
    if not args.peers:
        parser.error("no peer is installed: see requirements.txt")
    args.version = subprocess.run([args.leafgp, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    holder = tempfile.TemporaryDirectory()
    if args.mode == "mean":
        paths = ensembles.write(args.folder or holder.name, args.functions, args.trees, args.depths, args.seed)
    else:
        paths = sorted(p for p in pathlib.Path(args.instances).glob("*.json") if p.name != "expected.json")
        if not paths:
            parser.error(f"no instances in {args.instances}")
        order = {}
        for path in paths:
            order.setdefault(class_of(path.stem), []).append(path)
        wanted = args.classes or sorted(order, key=lambda kind: ("-t" in kind, int(re.sub(r"\D.*", "", kind[1:]) or 0)))
        if missing := [kind for kind in wanted if kind not in order]:
            parser.error(f"no instances of class {', '.join(missing)}; there are {', '.join(order)}")
        paths = [path for kind in wanted for path in order[kind][: args.per_class]]

    rows, file = [], pathlib.Path(f"{args.out}.csv")
    if args.resume and file.exists():
        with file.open(newline="", encoding="utf-8") as old:
            rows = list(csv.DictReader(old))
    known = {row["instance"] for row in rows}
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
        out.flush()
        for path in paths:
            if path.stem in known:
                continue
            new = []
            compare_one(args, path, new)
            rows += new
            writer.writerows(new)
            out.flush()
            print(f"{path.stem}: " + ", ".join(f"{r['solver']} {float(r['cpu_s']):.3g} s {r['status']}" for r in new), file=sys.stderr)
    return finish(args, rows)


if __name__ == "__main__":
    sys.exit(main())
