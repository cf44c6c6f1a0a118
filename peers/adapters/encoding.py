"""Points as vectors of the unit cube, for optimisers that know only reals (needs numpy).

Numbers are scaled to [0, 1], in the logarithm with `scale = "log"`; integers, grids and discrete lists are rounded to
the nearest allowed value; a category has one coordinate for each level, the largest of which decides.
"""

import math

import numpy as np


def listed_values(variable):
    """The values of a discrete or binary variable or of a grid, ascending; None for other numbers and for categories."""
    if variable["type"] == "discrete":
        return sorted(variable["values"])
    if variable["type"] == "binary":
        return [0, 1]
    if "step" in variable:
        low, high = variable["bounds"]
        steps = round((high - low) / variable["step"])
        return [min(low + i * variable["step"], high) for i in range(steps + 1)]
    return None


class _Number:
    """A variable with one coordinate; `values` are the allowed ones when they are a list."""

    width = 1

    def __init__(self, variable):
        kind = variable["type"]
        self.values = None
        self.whole = kind in ("integer", "binary")
        self.step = variable.get("step")
        if kind == "discrete":
            self.values = sorted(variable["values"])
            bounds = (self.values[0], self.values[-1])
        else:
            bounds = (0, 1) if kind == "binary" else variable["bounds"]
        self.low, self.high = bounds
        self.log = variable.get("scale") == "log" and self.low > 0
        self.from_, self.to = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)

    def encode(self, value):
        if self.to == self.from_:
            return [0.0]
        value = float(value)
        return [((math.log(value) if self.log else value) - self.from_) / (self.to - self.from_)]

    def decode(self, unit):
        scaled = self.from_ + min(max(float(unit[0]), 0.0), 1.0) * (self.to - self.from_)
        value = min(max(math.exp(scaled) if self.log else scaled, self.low), self.high)
        if self.values is not None:
            return min(self.values, key=lambda allowed: abs(allowed - value))
        if self.whole:
            return int(round(value))
        if self.step is not None:
            return min(self.low + round((value - self.low) / self.step) * self.step, self.high)
        return value


class _Category:
    def __init__(self, variable):
        self.levels = variable["levels"]
        self.width = len(self.levels)

    def encode(self, value):
        return [1.0 if level == value else 0.0 for level in self.levels]

    def decode(self, unit):
        return self.levels[int(np.argmax(unit))]


class Encoding:
    def __init__(self, variables):
        self.names = [variable["name"] for variable in variables]
        self.parts = [_Category(v) if v["type"] == "categorical" else _Number(v) for v in variables]
        self.first = np.concatenate(([0], np.cumsum([part.width for part in self.parts]))).astype(int)
        self.size = int(self.first[-1])

    def encode(self, point):
        """The vector of a point, length `size`."""
        coordinates = [part.encode(point[name]) for name, part in zip(self.names, self.parts, strict=True)]
        return np.array([unit for part in coordinates for unit in part])

    def decode(self, vector):
        """The allowed point nearest to a vector."""
        spans = zip(self.names, self.parts, self.first[:-1], strict=True)
        return {name: part.decode(vector[at : at + part.width]) for name, part, at in spans}

    def snap(self, vector):
        """The vector of the allowed point nearest to a vector."""
        return self.encode(self.decode(vector))

    def affine(self, name):
        """(index, a, b) with value = a * coordinate + b, or None for categories and logarithmic scales."""
        part = self.parts[self.names.index(name)]
        if isinstance(part, _Category) or part.log:
            return None
        return int(self.first[self.names.index(name)]), part.to - part.from_, part.from_

    def row(self, function):
        """(indices, coefficients, right side) of a linear function of the coordinates; None when it has no coordinate."""
        indices, coefficients, right = [], [], -function.constant
        for name, coefficient in function.terms.items():
            index, a, b = self.affine(name)
            right -= coefficient * b
            if a != 0.0:
                indices.append(index)
                coefficients.append(coefficient * a)
        return (indices, coefficients, right) if indices else None
