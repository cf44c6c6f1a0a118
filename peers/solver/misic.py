"""The tree part of the model (the paper's Eq. 3), once for all peers.

Columns are the leaf variables `z` (one per leaf, continuous in [0, 1]) followed by the binaries `nu`: for a numeric variable one per
threshold (`nu = 1` means `x <= threshold`), for a categorical one per level. Since a problem without constraints does not need `x`,
the linking rows (Eq. 4) are left out, and every assignment of `nu` is a cell that holds a point of the domain.
"""


class Misic:
    def __init__(self, instance):
        self.instance = instance
        self.n_z = instance.n_leaves
        self.nu = []  # per variable: {threshold or level: column}
        column = self.n_z
        for v, splits in zip(instance.variables, instance.splits):
            keys = range(v["categories"]) if v["type"] == "categorical" else splits
            self.nu.append({key: column + j for j, key in enumerate(keys)})
            column += len(self.nu[-1])
        self.n_columns = column
        self.fixed_to_zero = set()  # leaves behind a split that is constant on the domain
        self.one_hot = []  # lists of columns that sum to 1: (a) and (d)
        self.order = []  # (j, k): nu_j <= nu_k: (e)
        self.sides = []  # (leaves, columns, left): sum of leaves <= sum of columns, or <= 1 - that sum on the right: (b), (c)
        for v, columns in zip(instance.variables, self.nu):
            listed = list(columns.values())
            if v["type"] == "categorical":
                self.one_hot.append(listed)
            else:
                self.order += list(zip(listed, listed[1:]))
        for t, tree in enumerate(instance.trees):
            self.one_hot.append(list(range(instance.first[t], instance.first[t] + instance.leaves[t])))
            self._walk(t, tree, 0)

    def _walk(self, t, tree, n):
        node = tree[n]
        if "leaf" in node:
            return [self.instance.leaf_number[t][n]]
        left, right = self._walk(t, tree, node["left"]), self._walk(t, tree, node["right"])
        feature = node["feature"]
        if "threshold" in node:
            cut = self.instance.cut(feature, node["threshold"])
            if isinstance(cut, bool):
                self.fixed_to_zero.update(right if cut else left)
                return left + right
            columns = [self.nu[feature][cut]]
        else:
            known = self.nu[feature]
            columns = [known[level] for level in sorted(set(node["categories"])) if level in known]
        self.sides += [(left, columns, True), (right, columns, False)]
        return left + right

    def rows(self):
        """Every row as (columns, coefficients, lower, upper); None stands for no bound."""
        for columns in self.one_hot:
            yield columns, [1.0] * len(columns), 1.0, 1.0
        for j, k in self.order:
            yield [j, k], [1.0, -1.0], None, 0.0
        for leaves, columns, left in self.sides:
            sign, upper = (-1.0, 0.0) if left else (1.0, 1.0)
            yield leaves + columns, [1.0] * len(leaves) + [sign] * len(columns), None, upper

    def leaves(self, values):
        """The active leaves of the cell that the `nu` in `values` (all columns) describe, read off the trees, not off `z`."""

        def go_left(node):
            feature = node["feature"]
            if "threshold" in node:
                cut = self.instance.cut(feature, node["threshold"])
                return cut if isinstance(cut, bool) else values[self.nu[feature][cut]] > 0.5
            return any(level in node["categories"] and values[j] > 0.5 for level, j in self.nu[feature].items())

        return [self.instance.leaf_of(t, go_left) for t in range(len(self.instance.trees))]
