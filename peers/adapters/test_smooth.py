"""Tests of smooth.py; standard library only: python test_smooth.py"""

import math
import unittest

from smooth import NotSmooth, smooth_constraints


def read(*expressions, variables=("a", "b"), define=()):
    constraints = [{"name": f"c{i}", "expr": expr} for i, expr in enumerate(expressions)]
    define = [{"name": name, "expr": expr} for name, expr in define]
    return smooth_constraints(variables, define, constraints)


class SmoothConstraints(unittest.TestCase):
    def values(self, found, **at):
        return [(g(at, math), g.equality) for g in found]

    def test_directions_and_chains(self):
        found = read("a*b <= 6", "a^2 - b >= 1", "0 <= a/b < 3", "a^2 + b^2 == 1")
        self.assertEqual([g.name for g in found], ["c0", "c1", "c2", "c2", "c3"])
        expected = [(0.0, False), (0.0, False), (2 / 3, False), (3 - 2 / 3, False), (12.0, True)]
        for (value, equality), (want, kind) in zip(self.values(found, a=2.0, b=3.0), expected, strict=True):
            self.assertAlmostEqual(value, want)
            self.assertEqual(equality, kind)

    def test_functions_and_quoted_names(self):
        found = read("exp(`flow rate`) + sum(a, sqrt(a), 1) <= log(a)*10", variables=("a", "flow rate"))
        value = found[0]({"a": 4.0, "flow rate": 0.5}, math)
        self.assertAlmostEqual(value, math.log(4.0) * 10 - (math.exp(0.5) + 4 + 2 + 1))

    def test_definitions_are_evaluated_in_order_and_matter_only_where_used(self):
        define = [("area", "a*b"), ("twice", "2*area"), ("odd", "floor(a)")]
        self.assertEqual(self.values(read("twice <= 20", define=define), a=2.0, b=3.0), [(8.0, False)])
        with self.assertRaisesRegex(NotSmooth, "'c0'"):
            read("odd <= 3", define=define)

    def test_everything_else_is_refused(self):
        for expr in (
            "a <= 1 or b <= 1", "not (a <= 1)", "a <= 1 implies b <= 1", "a != b", "min(a, b) <= 1", "abs(a) <= 1",
            "if(a <= 1, a, b) <= 2", "s == 'x'", "s <= 1", "a", "floor(a) == a", "a and b", None,
        ):
            with self.subTest(expr), self.assertRaisesRegex(NotSmooth, "constraint 'c0' is not smooth"):
                read(expr)


if __name__ == "__main__":
    unittest.main()
