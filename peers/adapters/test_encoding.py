"""Tests of encoding.py; needs numpy: python test_encoding.py"""

import random
import unittest

import numpy as np

from encoding import Encoding

VARIABLES = [
    {"name": "x", "type": "continuous", "bounds": [-2.0, 6.0]},
    {"name": "rate", "type": "continuous", "bounds": [1e-4, 1.0], "scale": "log"},
    {"name": "share", "type": "continuous", "bounds": [0.1, 0.6], "step": 0.05},
    {"name": "n", "type": "integer", "bounds": [1, 9]},
    {"name": "flag", "type": "binary"},
    {"name": "dose", "type": "discrete", "values": [0, 12, 24, 48]},
    {"name": "solvent", "type": "categorical", "levels": ["water", "acetone", "air"]},
    {"name": "fixed", "type": "integer", "bounds": [3, 3]},
]


class Encodings(unittest.TestCase):
    def setUp(self):
        self.encoding = Encoding(VARIABLES)

    def test_by_hand(self):
        point = {"x": 0.0, "rate": 1e-3, "share": 0.35, "n": 3, "flag": 1, "dose": 12, "solvent": "air", "fixed": 3}
        vector = [0.25, 0.25, 0.5, 0.25, 1.0, 0.25, 0.0, 0.0, 1.0, 0.0]
        np.testing.assert_allclose(self.encoding.encode(point), vector, atol=1e-12)
        self.assertEqual(self.encoding.size, 10)

    def test_decoding_rounds_and_stays_inside(self):
        vector = [1.2, -0.1, 0.51, 0.3, 0.49, 0.8, 0.3, 0.4, 0.2, 0.7]
        point = self.encoding.decode(np.array(vector))
        self.assertEqual(point["x"], 6.0)
        self.assertAlmostEqual(point["rate"], 1e-4, places=18)
        self.assertAlmostEqual(point["share"], 0.35, places=12)
        # 38.4 is nearer to 48 than to 24.
        self.assertEqual([point[name] for name in ("n", "flag", "dose", "solvent", "fixed")], [3, 0, 48, "acetone", 3])

    def test_snapping_twice_changes_nothing(self):
        rng = random.Random(3)
        for _ in range(200):
            once = self.encoding.snap(np.array([rng.random() for _ in range(self.encoding.size)]))
            np.testing.assert_allclose(self.encoding.snap(once), once, atol=1e-12)

    def test_affine_maps(self):
        self.assertEqual(self.encoding.affine("x"), (0, 8.0, -2.0))
        self.assertEqual(self.encoding.affine("n"), (3, 8, 1))
        self.assertIsNone(self.encoding.affine("rate"))
        self.assertIsNone(self.encoding.affine("solvent"))


if __name__ == "__main__":
    unittest.main()
