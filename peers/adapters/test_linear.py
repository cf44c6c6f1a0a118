"""Tests of linear.py; standard library only: python test_linear.py"""

import random
import unittest

from linear import NotLinear, linear_constraints


def read(*expressions, variables=("a", "b"), define=()):
    constraints = [{"name": f"c{i}", "expr": expr} for i, expr in enumerate(expressions)]
    define = [{"name": name, "expr": expr} for name, expr in define]
    return [[(f.constant, f.terms) for f in side] for side in linear_constraints(variables, define, constraints)]


class LinearConstraints(unittest.TestCase):
    def test_directions_and_chains(self):
        inequalities, equalities = read("a + b <= 1.5", "0.5*a - b/4 >= -0.25", "0 <= a + 2*b < 3", "a == 2*(b - 1)")
        self.assertEqual(
            inequalities,
            [
                (1.5, {"a": -1.0, "b": -1.0}),
                (0.25, {"a": 0.5, "b": -0.25}),
                (0.0, {"a": 1.0, "b": 2.0}),
                (3.0, {"a": -1.0, "b": -2.0}),
            ],
        )
        self.assertEqual(equalities, [(2.0, {"a": 1.0, "b": -2.0})])

    def test_quoted_names_constants_and_sums(self):
        inequalities, _ = read("`flow rate`*2 + 3^2*a <= 4/2*3", "sum(a, `flow rate`, 1) >= 0", variables=("a", "flow rate"))
        self.assertEqual(
            inequalities, [(6.0, {"flow rate": -2.0, "a": -9.0}), (1.0, {"a": 1.0, "flow rate": 1.0})]
        )

    def test_definitions_are_put_in_and_matter_only_where_used(self):
        define = [("total", "a + b"), ("twice", "2*total"), ("area", "a*b")]
        self.assertEqual(read("twice <= 3", define=define)[0], [(3.0, {"a": -2.0, "b": -2.0})])
        with self.assertRaisesRegex(NotLinear, "'c0'"):
            read("area <= 3", define=define)

    def test_terms_that_cancel_are_left_out(self):
        self.assertEqual(read("a + b - a <= 1")[0], [(1.0, {"b": -1.0})])

    def test_agrees_with_evaluation(self):
        left, right = "3*(a - 2*b)/4 + b", "-(a - 1) + 2^3*b"
        ((constant, terms),) = read(f"{left} <= {right}")[0]
        rng = random.Random(7)
        for _ in range(50):
            a, b = rng.uniform(-5, 5), rng.uniform(-5, 5)
            expected = (-(a - 1) + 8 * b) - (3 * (a - 2 * b) / 4 + b)
            self.assertAlmostEqual(constant + terms["a"] * a + terms["b"] * b, expected, places=12)

    def test_everything_else_is_refused(self):
        for expr in (
            "a*b <= 1", "a^2 <= 1", "1/a <= 2", "a <= 1 or b <= 1", "not (a <= 1)", "a <= 1 implies b <= 1", "a != b",
            "min(a, b) <= 1", "if(a <= 1, a, b) <= 2", "s == 'x'", "s in ['x']", "s <= 1", "a", "0^(-1) <= a", None,
        ):
            with self.subTest(expr), self.assertRaisesRegex(NotLinear, "constraint 'c0' is not linear"):
                read(expr)


if __name__ == "__main__":
    unittest.main()
