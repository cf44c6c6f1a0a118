"""Acquisition instances as the peers need them: leaf coefficients, the finite cells of every variable, and values at a point.

Everything is written from the definitions (dense linear algebra, plain walks), independent of leafgp, so that it can judge both sides.
"""

import json
import math

import numpy as np


class Instance:
    """One problem: minimise `mu(x) - kappa * sigma(x)` of the tree-kernel process over a box.

    `splits[i]` holds, for a numeric variable, the ascending thresholds that cut its domain; thresholds between the same two integers
    count once. `leaves[t]` is the number of leaves of tree t and `first[t]` the global number of its first leaf.
    """

    def __init__(self, data):
        if data.get("constraints") or data.get("define"):
            raise ValueError("the peers' model has a box only; this instance has constraints")
        if data.get("mean", 0.0) != 0.0 or data.get("variance", "latent") != "latent":
            raise ValueError("the peers' model has zero mean and latent variance")
        self.name = data["name"]
        self.kappa = float(data["kappa"])
        self.s2 = float(data["signal_variance"])
        self.noise = float(data["noise_variance"])
        self.variables = data["variables"]
        for v in self.variables:
            if v["type"] not in ("continuous", "integer", "binary", "categorical") or "active_if" in v or "step" in v:
                raise ValueError(f"a variable of the kind {v} is not in the peers' model")
            if v["type"] == "binary":
                v.update(type="integer", lower=0, upper=1)
        self.trees = [tree for tree in data["trees"] if "leaf" not in tree[0]]
        self.x = np.array(data["X"], dtype=float).reshape(len(data["y"]), len(self.variables))
        self.y = np.array(data["y"], dtype=float)
        self.splits = self._splits()
        self.leaves, self.first, self.leaf_number = [], [], []
        total = 0
        for tree in self.trees:
            number = {}
            for n, node in enumerate(tree):
                if "leaf" in node:
                    number[n] = total + len(number)
            self.first.append(total)
            self.leaves.append(len(number))
            self.leaf_number.append(number)
            total += len(number)
        self.n_leaves = total
        self._process()

    @classmethod
    def read(cls, path):
        with open(path, encoding="utf-8") as file:
            return cls(json.load(file))

    def _splits(self):
        found = [set() for _ in self.variables]
        for tree in self.trees:
            for node in tree:
                if "threshold" in node:
                    cut = self.cut(node["feature"], node["threshold"])
                    if not isinstance(cut, bool):
                        found[node["feature"]].add(cut)
        return [sorted(s) for s in found]

    def cut(self, feature, threshold):
        """The split `x <= threshold` on the variable's own domain: True or False when it is constant there, else its canonical place."""
        v = self.variables[feature]
        place = math.floor(threshold) if v["type"] == "integer" else threshold
        if place < v["lower"]:
            return False
        if place >= v["upper"]:
            return True
        return place

    def leaf_of(self, t, go_left):
        """The global leaf number of tree t under `go_left(node)`."""
        n = 0
        while "leaf" not in self.trees[t][n]:
            node = self.trees[t][n]
            n = node["left"] if go_left(node) else node["right"]
        return self.leaf_number[t][n]

    def leaves_at(self, x):
        def go_left(node):
            value = x[node["feature"]]
            return value <= node["threshold"] if "threshold" in node else int(value) in node["categories"]

        return [self.leaf_of(t, go_left) for t in range(len(self.trees))]

    def _process(self):
        """c[l] and v[:, l]: `mu = sum c`, `sigma^2 = s2 - |sum v|^2` over the active leaves (Eq. 5-8)."""
        m, n_trees = len(self.y), max(len(self.trees), 1)
        self.active = np.zeros((m, self.n_leaves))
        for i, row in enumerate(self.x):
            self.active[i, self.leaves_at(row)] = 1.0
        scale = self.s2 / n_trees
        gram = scale * (self.active @ self.active.T) + self.noise * np.eye(m)
        self.lower = np.linalg.cholesky(gram)
        alpha = np.linalg.solve(self.lower.T, np.linalg.solve(self.lower, self.y))
        self.scale = scale
        self.c = scale * (self.active.T @ alpha)
        self.v = scale * np.linalg.solve(self.lower, self.active) if self.kappa > 0 else None

    def value(self, leaves):
        """`mu - kappa * sigma` when exactly these leaves are active."""
        mu = float(np.sum(self.c[leaves]))
        if self.kappa == 0:
            return mu
        u = self.v[:, leaves].sum(axis=1)
        return mu - self.kappa * math.sqrt(max(self.s2 - float(u @ u), 0.0))

    def value_at(self, x):
        return self.value(self.leaves_at(x))
