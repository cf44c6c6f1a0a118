"""Tests of feasible.py, with leafgp itself: LEAFGP=target/release/leafgp python test_feasible.py"""

import os
import unittest

import protocol
from feasible import FeasiblePoints, problem_text

LEAFGP = os.environ.get("LEAFGP", "leafgp")


def start(constraints, define=()):
    variables = [
        {"name": "a b", "type": "continuous", "bounds": [0.0, 2.0]},
        {"name": "rate", "type": "continuous", "bounds": [1e-4, 1.0], "scale": "log"},
        {"name": "n", "type": "integer", "bounds": [1, 4]},
        {"name": "dose", "type": "discrete", "values": [0, 12, 24]},
        {"name": "solvent", "type": "categorical", "levels": ["water", "say \"air\""]},
    ]
    return protocol.Start(seed=1, iterations=1, variables=variables, initial=[], define=list(define), constraints=constraints)


CURVED = [{"name": "curve \"1\"", "expr": "area >= 0.5"}, {"name": "c2", "expr": "`a b`^2 + n <= 4"}]
AREA = [{"name": "area", "expr": "`a b`*n"}]


class Feasible(unittest.TestCase):
    def test_points_keep_the_constraints_and_are_the_seeds_own(self):
        source = FeasiblePoints(start(CURVED, AREA), LEAFGP)
        points = source.points(20, 7)
        self.assertEqual(len(points), 20)
        for point in points:
            self.assertGreaterEqual(point["a b"] * point["n"], 0.5 - 1e-9)
            self.assertLessEqual(point["a b"] ** 2 + point["n"], 4 + 1e-9)
            self.assertIn(point["dose"], [0, 12, 24])
        self.assertEqual(points, source.points(20, 7))
        self.assertNotEqual(points, source.points(20, 8))
        source.close()

    def test_an_equality_is_met_closely(self):
        source = FeasiblePoints(start([{"name": "circle", "expr": "`a b`^2 + rate^2 == 1"}]), LEAFGP)
        for point in source.points(10, 1):
            self.assertAlmostEqual(point["a b"] ** 2 + point["rate"] ** 2, 1.0, places=7)
        source.close()

    def test_what_goes_wrong_is_told(self):
        with self.assertRaisesRegex(protocol.Refused, "no text"):
            problem_text([], [], [{"name": "whole", "expr": None}])
        with self.assertRaisesRegex(protocol.Refused, "no-such-program"):
            FeasiblePoints(start(CURVED, AREA), "no-such-program").points(1, 1)
        with self.assertRaisesRegex(protocol.Refused, "gives no feasible points"):
            FeasiblePoints(start([{"name": "never", "expr": "n <= 0"}]), LEAFGP).points(1, 1)


if __name__ == "__main__":
    unittest.main()
