"""The best input of trained tree ensembles: leafgp beside MIP and CP solvers, and beside searches without a proof.

    python peers/tree_ensembles.py --shared ../shared --leafgp target/release/leafgp --limit 20 --out ensembles.csv
    python peers/tree_ensembles.py --table ensembles.csv

The largest sum of the trees (mean, for a forest) over the box of `points.json`; ensembles without one over all numbers.
Every answer is in that unit: the point that a method returns is evaluated here, in f64, on the trees as their library
saved them; bounds are the method's own. Each method has one thread, a process of its own and the same limit in seconds,
building the model not counted (leafgp: with reading the file). The CSV has seconds of the wall and of the processor; on
a busy machine the two differ, and the table gives the latter. Rows that the CSV has already are not run again; --only takes a part of a row's name.

highs, scip: Misic's formulation, binary for the questions, leaves continuous. The bound is taken as the solver says it.
cpsat: the same with leaves as Booleans; leaf values times a power of ten, rounded up, so that its bound is one of the
    sum as well; the power is the largest that keeps the sum of the largest leaves below 2^50.
random: uniform points in batches of 2,000. ga: 200 points, tournaments of 3, uniform crossover, normal steps of a tenth of
    the range in one of four coordinates, the best 10 kept. de: scipy's differential evolution, popsize 15, vectorised,
    started again from another seed when it ends early.
leafgp: `leafgp optimize` on the model file; an ensemble is written as a LightGBM text file first.

Needs numpy, scipy, lightgbm, xgboost, highspy, pyscipopt, ortools.
"""

import argparse
import csv
import json
import math
import multiprocessing
import os
import re
import subprocess
import tempfile
import time

import numpy

METHODS = ("leafgp", "highs", "scip", "cpsat", "random", "ga", "de")
ENSEMBLES = (
    ("concrete_bt", (100, 200, 500)), ("redwine_bt", (100, 200, 500)), ("concrete_rf", (100,)), ("redwine_rf", (10, 50, 100)),
)
FIELDS = ("problem", "method", "limit", "status", "value", "bound", "seconds", "cpu_seconds")


# ---- reading: a tree is a list of nodes, (feature, threshold or set of codes, left, right) or (value,), root first


def lightgbm_trees(path):
    import lightgbm

    dump = lightgbm.Booster(model_file=path).dump_model()

    def flat(node, nodes):
        at = len(nodes)
        nodes.append(None)
        if "leaf_value" in node:
            nodes[at] = (node["leaf_value"],)
        else:
            is_set = node["decision_type"] == "=="
            question = frozenset(map(int, node["threshold"].split("||"))) if is_set else node["threshold"]
            left, right = flat(node["left_child"], nodes), flat(node["right_child"], nodes)
            nodes[at] = (node["split_feature"], question, left, right)
        return at

    trees = []
    for info in dump["tree_info"]:
        nodes = []
        flat(info["tree_structure"], nodes)
        trees.append(nodes)
    return scaled(trees, 1 / len(trees)) if dump.get("average_output") else trees


def xgboost_trees(path):
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(path)
    model = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]
    trees = []
    for tree in model["trees"]:
        nodes = []
        for feature, t, left, right in zip(
            tree["split_indices"], tree["split_conditions"], tree["left_children"], tree["right_children"]
        ):
            # x < t in single precision: up to the number before t.
            before = float(numpy.nextafter(numpy.float32(t), numpy.float32(-numpy.inf)))
            nodes.append((float(numpy.float32(t)),) if left < 0 else (feature, before, left, right))
        trees.append(nodes)
    return trees


def scaled(trees, factor):
    return [[(node[0] * factor,) if len(node) == 1 else node for node in tree] for tree in trees]


class Instance:
    """Trees and their box: of a number (lower, upper), of a category its codes."""

    def __init__(self, name, trees, box, names, path=None, link="identity"):
        self.name, self.trees, self.box, self.names, self.path, self.link = name, trees, box, names, path, link
        self.flat = [self._arrays(tree) for tree in trees]

    @staticmethod
    def _arrays(tree):
        depth = 1
        stack = [(0, 1)]
        while stack:
            at, d = stack.pop()
            depth = max(depth, d)
            if len(tree[at]) > 1:
                stack += [(tree[at][2], d + 1), (tree[at][3], d + 1)]
        feature = numpy.array([node[0] if len(node) > 1 else 0 for node in tree])
        cut = numpy.array([node[1] if len(node) > 1 and not isinstance(node[1], frozenset) else numpy.inf for node in tree])
        left = numpy.array([node[2] if len(node) > 1 else i for i, node in enumerate(tree)])
        right = numpy.array([node[3] if len(node) > 1 else i for i, node in enumerate(tree)])
        value = numpy.array([node[0] if len(node) == 1 else 0.0 for node in tree])
        sets = {i: sorted(node[1]) for i, node in enumerate(tree) if len(node) > 1 and isinstance(node[1], frozenset)}
        return depth, feature, cut, left, right, value, sets

    def value(self, x):
        """The sum of the trees at the rows of x."""
        x = numpy.atleast_2d(x)
        rows = numpy.arange(len(x))
        total = numpy.zeros(len(x))
        for depth, feature, cut, left, right, value, sets in self.flat:
            at = numpy.zeros(len(x), dtype=int)
            for _ in range(depth - 1):
                asked = x[rows, feature[at]]
                goes_left = asked <= cut[at]
                for node, codes in sets.items():
                    here = at == node
                    if here.any():
                        goes_left[here] = numpy.isin(asked[here], codes)
                at = numpy.where(goes_left, left[at], right[at])
            total += value[at]
        return total

    def is_category(self, i):
        return isinstance(self.box[i], list)

    def ranges(self):
        return [(0, len(b)) if isinstance(b, list) else b for b in self.box]

    def snapped(self, x):
        """Points with their categories as codes."""
        x = numpy.array(x)
        for i, b in enumerate(self.box):
            if isinstance(b, list):
                x[:, i] = numpy.array(b)[numpy.clip(x[:, i].astype(int), 0, len(b) - 1)]
        return x


def instances(shared):
    folder = os.path.join(shared, "models")
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    for name in sorted(expected):
        path = next(p for p in (os.path.join(folder, name + end) for end in (".txt", ".json", ".ubj")) if os.path.exists(p))
        with open(os.path.join(folder, name + ".points.json")) as file:
            points = json.load(file)
        trees = lightgbm_trees(path) if path.endswith(".txt") else xgboost_trees(path)
        sets = {node[0] for tree in trees for node in tree if len(node) > 1 and isinstance(node[1], frozenset)}
        box = [list(range(int(b[1]) + 1)) if i in sets else tuple(b) for i, b in enumerate(points["bounds"])]
        yield Instance(name, trees, box, points["features"], path, "exp" if "gamma" in name else "identity")
    for name, sizes in ENSEMBLES:
        with open(os.path.join(folder, "ensembles", name + ".json")) as file:
            stated = json.load(file)
        nodes = [[(n[0],) if len(n) == 1 else (int(n[0]), n[1], n[2], n[3]) for n in tree] for tree in stated["trees"]]
        for size in sizes:
            trees = nodes[:size]
            if name.endswith("_rf"):
                trees = scaled(trees, 1 / size)
            cuts = [(node[0], node[1]) for tree in trees for node in tree if len(node) > 1]
            n = max(f for f, _ in cuts) + 1
            of = [[t for f, t in cuts if f == i] or [0.0] for i in range(n)]
            box = [(min(ts) - 1, max(ts) + 1) for ts in of]
            yield Instance(f"{name} {size}", trees, box, [f"f{i}" for i in range(n)])


class Clock:
    """Seconds of the wall and of the processor, child processes with it."""

    def __init__(self):
        self.started = self._now()

    @staticmethod
    def _now():
        return time.perf_counter(), sum(os.times()[:4])

    def read(self):
        return tuple(now - started for now, started in zip(self._now(), self.started))


# ---- Misic's formulation


class Misic:
    """Columns: a binary for each question inside the box, then a column for each leaf. Rows as (lower, upper, columns, factors)."""

    def __init__(self, instance):
        self.instance = instance
        self.column, self.cuts, self.codes, self.rows, self.values = {}, {}, {}, [], []
        n = 0
        for i, b in enumerate(instance.box):
            questions = {node[1] for tree in instance.trees for node in tree if len(node) > 1 and node[0] == i}
            if isinstance(b, list):
                self.codes[i] = list(range(n, n + len(b)))
                self.rows.append((1, 1, self.codes[i], [1] * len(b)))
                n += len(b)
            else:
                self.cuts[i] = sorted(t for t in questions if b[0] <= t < b[1])
                for t in self.cuts[i]:
                    self.column[i, t] = n
                    n += 1
                for a, c in zip(self.cuts[i], self.cuts[i][1:]):
                    self.rows.append((-numpy.inf, 0, [self.column[i, a], self.column[i, c]], [1, -1]))
        self.n_binary = n
        for tree in instance.trees:
            self._tree(tree)

    def _tree(self, tree):
        leaves = {}
        order, stack = [], [0]
        while stack:
            at = stack.pop()
            order.append(at)
            if len(tree[at]) > 1:
                stack += [tree[at][2], tree[at][3]]
        for at in reversed(order):
            if len(tree[at]) == 1:
                leaves[at] = [self.n_binary + len(self.values)]
                self.values.append(tree[at][0])
            else:
                leaves[at] = leaves[tree[at][2]] + leaves[tree[at][3]]
        self.rows.append((1, 1, leaves[0], [1] * len(leaves[0])))
        for at in order:
            if len(tree[at]) == 1:
                continue
            feature, question, left, right = tree[at]
            columns, fixed = self._question(feature, question)
            # Left leaves only if the answer is yes, right ones only if it is no.
            minus, plus = [-1] * len(columns), [1] * len(columns)
            self.rows.append((-numpy.inf, fixed, leaves[left] + columns, [1] * len(leaves[left]) + minus))
            self.rows.append((-numpy.inf, 1 - fixed, leaves[right] + columns, [1] * len(leaves[right]) + plus))

    def _question(self, feature, question):
        """The columns whose sum is the answer, or none and the answer that the box gives."""
        box = self.instance.box[feature]
        if isinstance(box, list):
            return [c for code, c in zip(box, self.codes[feature]) if code in question], 0
        if (feature, question) in self.column:
            return [self.column[feature, question]], 0
        return [], int(question >= box[1])

    def point(self, z):
        """A point inside the cell of a solution's binaries."""
        x = []
        for i, b in enumerate(self.instance.box):
            if isinstance(b, list):
                x.append(b[int(numpy.argmax([z[c] for c in self.codes[i]]))])
                continue
            lower, upper = b
            for t in self.cuts[i]:
                if z[self.column[i, t]] > 0.5:
                    upper = t
                    break
                lower = t
            x.append(upper if upper < b[1] else b[1])
        return x

    def highs(self, limit):
        import highspy

        n = self.n_binary + len(self.values)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n, len(self.rows)
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.col_cost_ = numpy.concatenate([numpy.zeros(self.n_binary), self.values])
        lp.col_lower_, lp.col_upper_ = numpy.zeros(n), numpy.ones(n)
        lp.row_lower_ = numpy.array([row[0] for row in self.rows], dtype=float)
        lp.row_upper_ = numpy.array([row[1] for row in self.rows], dtype=float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = numpy.cumsum([0] + [len(row[2]) for row in self.rows])
        lp.a_matrix_.index_ = numpy.concatenate([row[2] for row in self.rows]).astype(int)
        lp.a_matrix_.value_ = numpy.concatenate([row[3] for row in self.rows]).astype(float)
        kinds = highspy.HighsVarType
        lp.integrality_ = [kinds.kInteger] * self.n_binary + [kinds.kContinuous] * len(self.values)
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("time_limit", float(limit))
        solver.setOptionValue("mip_rel_gap", 1e-4)
        solver.passModel(lp)
        return solver


def by_highs(instance, limit):
    misic = Misic(instance)
    solver = misic.highs(limit)
    clock = Clock()
    solver.run()
    seconds = clock.read()
    info = solver.getInfo()
    z = list(solver.getSolution().col_value)
    found = info.primal_solution_status == 2
    return misic.point(z) if found else None, info.mip_dual_bound, seconds


def by_scip(instance, limit):
    import pyscipopt

    misic = Misic(instance)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mps")
        misic.highs(limit).writeModel(path)
        model = pyscipopt.Model()
        model.hideOutput()
        model.readProblem(path)
    model.setParam("limits/time", limit)
    model.setParam("limits/gap", 1e-4)
    model.setParam("parallel/maxnthreads", 1)
    clock = Clock()
    model.optimize()
    seconds = clock.read()
    # The reader's sense: a file that minimises has the negative sum.
    sign = 1 if model.getObjectiveSense() == "maximize" else -1
    point = None
    if model.getNSols() > 0:
        best = model.getBestSol()
        by_number = {int(re.sub(r"\D", "", v.name)): v for v in model.getVars()}
        point = misic.point([model.getSolVal(best, by_number[i]) for i in range(misic.n_binary)])
    return point, sign * model.getDualbound(), seconds


def by_cpsat(instance, limit):
    from ortools.sat.python import cp_model

    misic = Misic(instance)
    largest = sum(max(abs(node[0]) for node in tree if len(node) == 1) for tree in instance.trees)
    scale = 10.0 ** math.floor(math.log10(2**50 / max(largest, 1e-9)))
    model = cp_model.CpModel()
    columns = [model.new_bool_var(f"c{i}") for i in range(misic.n_binary + len(misic.values))]
    for lower, upper, of, factors in misic.rows:
        # The sum of terms lies between these whole numbers: all rows have factors 1 and -1.
        low = -len(of) if lower == -numpy.inf else int(lower)
        model.add_linear_constraint(cp_model.LinearExpr.weighted_sum([columns[c] for c in of], factors), low, int(upper))
    costs = [math.ceil(value * scale) for value in misic.values]
    model.maximize(cp_model.LinearExpr.weighted_sum(columns[misic.n_binary :], costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.relative_gap_limit = 1e-4
    clock = Clock()
    status = solver.solve(model)
    seconds = clock.read()
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    point = misic.point([solver.value(c) for c in columns[: misic.n_binary]]) if found else None
    return point, solver.best_objective_bound / scale, seconds


# ---- searches without a proof


def by_random(instance, limit):
    rng = numpy.random.default_rng(1)
    lower, upper = numpy.array(instance.ranges(), dtype=float).T
    best, point, end = -numpy.inf, None, time.perf_counter() + limit
    clock = Clock()
    while time.perf_counter() < end:
        x = instance.snapped(rng.uniform(lower, upper, size=(2000, len(lower))))
        values = instance.value(x)
        if values.max() > best:
            best, point = values.max(), x[values.argmax()]
    return point, None, clock.read()


def by_ga(instance, limit):
    rng = numpy.random.default_rng(1)
    lower, upper = numpy.array(instance.ranges(), dtype=float).T
    n, d, end = 200, len(lower), time.perf_counter() + limit
    clock = Clock()
    genes = rng.uniform(lower, upper, size=(n, d))
    fitness = instance.value(instance.snapped(genes))
    while time.perf_counter() < end:
        parents = [rng.integers(n, size=(2 * n, 3))]
        chosen = parents[0][numpy.arange(2 * n), fitness[parents[0]].argmax(axis=1)]
        child = numpy.where(rng.uniform(size=(n, d)) < 0.5, genes[chosen[:n]], genes[chosen[n:]])
        step = rng.normal(scale=0.1, size=(n, d)) * (upper - lower) * (rng.uniform(size=(n, d)) < 0.25)
        child = numpy.clip(child + step, lower, upper)
        values = instance.value(instance.snapped(child))
        elite = numpy.argsort(fitness)[-10:]
        worst = numpy.argsort(values)[:10]
        child[worst], values[worst] = genes[elite], fitness[elite]
        genes, fitness = child, values
    return instance.snapped(genes)[fitness.argmax()], None, clock.read()


def by_de(instance, limit):
    from scipy.optimize import differential_evolution

    best, point, seed, end = -numpy.inf, None, 0, time.perf_counter() + limit
    clock = Clock()

    def objective(x):
        return -instance.value(instance.snapped(numpy.atleast_2d(x.T)))

    while time.perf_counter() < end:
        seed += 1
        result = differential_evolution(
            objective, instance.ranges(), popsize=15, maxiter=10**6, tol=1e-8, vectorized=True, updating="deferred",
            polish=False, seed=seed, callback=lambda *_, **__: time.perf_counter() > end,
        )  # fmt: skip
        if -result.fun > best:
            best, point = -result.fun, instance.snapped(result.x[None, :])[0]
    return point, None, clock.read()


# ---- leafgp


def lightgbm_text(instance):
    """The trees as a LightGBM file, for a command that reads model files."""
    names = " ".join(instance.names)
    lines = [
        "tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0",
        f"max_feature_idx={len(instance.names) - 1}", "objective=regression", f"feature_names={names}",
        f"feature_infos={' '.join('[0:1]' for _ in instance.names)}", "",
    ]  # fmt: skip
    for number, tree in enumerate(instance.trees):
        splits = [i for i, node in enumerate(tree) if len(node) > 1]
        leaves = [i for i, node in enumerate(tree) if len(node) == 1]
        index = {**{at: i for i, at in enumerate(splits)}, **{at: -1 - i for i, at in enumerate(leaves)}}
        join = lambda items: " ".join(map(str, items))  # noqa: E731
        lines += [f"Tree={number}", f"num_leaves={len(leaves)}", "num_cat=0"]
        lines += [f"split_feature={join(tree[i][0] for i in splits)}", f"split_gain={join('0' for _ in splits)}"]
        lines += [f"threshold={join(repr(float(tree[i][1])) for i in splits)}", f"decision_type={join('2' for _ in splits)}"]
        lines += [f"left_child={join(index[tree[i][2]] for i in splits)}", f"right_child={join(index[tree[i][3]] for i in splits)}"]
        lines += [f"leaf_value={join(repr(float(tree[i][0])) for i in leaves)}", "is_linear=0", "shrinkage=1", "", ""]
    return "\n".join([*lines, "end of trees", ""])


def by_leafgp(instance, limit, command):
    with tempfile.TemporaryDirectory() as folder:
        model, problem = instance.path, os.path.join(folder, "box.toml")
        if model is None:
            model = os.path.join(folder, "model.txt")
            with open(model, "w") as file:
                file.write(lightgbm_text(instance))
        with open(problem, "w") as file:
            file.write('[objective]\nname = "sum of trees"\ngoal = "maximize"\n[variables]\n')
            for name, b in zip(instance.names, instance.box):
                kind = f'"categorical", levels = {json.dumps([str(c) for c in b])}' if isinstance(b, list) else f'"continuous", bounds = [{b[0]!r}, {b[1]!r}]'
                file.write(f"{json.dumps(name)} = {{ type = {kind} }}\n")
        limits = ["--time-limit", str(limit), "--gap", "1e-5", "--threads", "1"]
        clock = Clock()
        ran = subprocess.run([command, "optimize", model, "--problem", problem, *limits, "--format", "json", "-q"], capture_output=True, text=True)
        seconds = clock.read()
    if not ran.stdout:
        raise RuntimeError(ran.stderr)
    answer = json.loads(ran.stdout)
    if answer["point"] is None:
        return None, None, seconds
    point = [float(answer["point"][name]) for name in instance.names]
    # From the model's unit to the sum: the base score goes.
    unit = math.log if instance.link == "exp" else float
    offset = unit(answer["value"]) - instance.value(point)[0]
    return point, unit(answer["bound"]) - offset, seconds


def run(instance, method, limit, command, answers):
    try:
        solve = {"highs": by_highs, "scip": by_scip, "cpsat": by_cpsat, "random": by_random, "ga": by_ga, "de": by_de}
        if method == "leafgp":
            point, bound, seconds = by_leafgp(instance, limit, command)
        else:
            point, bound, seconds = solve[method](instance, limit)
        value = None if point is None else float(instance.value(point)[0])
        answers.put((value, bound, seconds, ""))
    except Exception as error:  # noqa: BLE001  (a row says what went wrong)
        answers.put((None, None, (None, None), f"{type(error).__name__}: {error}"[:200].replace("\n", " ")))


def status(value, bound):
    if value is None:
        return "no point"
    if bound is None:
        return "no proof"
    return "proved" if bound - value <= 1e-4 * max(abs(bound), 1e-9) * 1.01 + 1e-9 else "open"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", default="../shared")
    parser.add_argument("--leafgp", default="target/release/leafgp")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default="ensembles.csv")
    parser.add_argument("--table", help="write the table of this CSV, run nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(arguments.table))
        return
    known = set()
    if os.path.exists(arguments.out):
        with open(arguments.out, newline="") as file:
            known = {(row["problem"], row["method"]) for row in csv.DictReader(file)}
    with open(arguments.out, "a", newline="") as file:
        writer = csv.writer(file)
        if not known and file.tell() == 0:
            writer.writerow(FIELDS)
        for instance in instances(arguments.shared):
            for method in arguments.methods.split(","):
                if arguments.only not in instance.name or (instance.name, method) in known:
                    continue
                answers = multiprocessing.Queue()
                work = multiprocessing.Process(target=run, args=(instance, method, arguments.limit, arguments.leafgp, answers))
                work.start()
                try:
                    value, bound, seconds, wrong = answers.get(timeout=4 * arguments.limit + 60)
                except Exception:  # noqa: BLE001  (the queue's)
                    value, bound, seconds, wrong = None, None, (None, None), "did not end"
                work.kill()
                work.join()
                row = [instance.name, method, arguments.limit, wrong or status(value, bound), value, bound, *seconds]
                writer.writerow(["" if cell is None else cell for cell in row])
                file.flush()
                print(*row, flush=True)


def table(path):
    """Markdown: of each problem what each method found, its bound where it is still open, the processor's seconds where it proved."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    by = {(row["problem"], row["method"]): row for row in rows}
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    lines = ["| model | " + " | ".join(METHODS) + " |", "|---|" + "---|" * len(METHODS)]
    for problem in problems:
        values = [float(by[key]["value"]) for key in by if key[0] == problem and by[key]["value"]]
        best = max(values, default=0.0)
        cells = []
        for method in METHODS:
            row = by.get((problem, method))
            if row is None:
                cells.append("not run")
            elif not row["value"]:
                bound = f", bound {float(row['bound']):.5g}" if row["bound"] and math.isfinite(float(row["bound"])) else ""
                cells.append(row["status"] + bound)
            else:
                value = f"{float(row['value']):.6g}"
                value = f"**{value}**" if float(row["value"]) >= best - 1e-6 * abs(best) else value
                ends = {"proved": f", {float(row['cpu_seconds']):.2g} s", "open": f", bound {float(row['bound'] or 'nan'):.5g}"}
                cells.append(value + ends.get(row["status"], ""))
        lines.append(f"| {problem} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
