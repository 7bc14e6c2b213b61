#!/usr/bin/env python3
"""Tests covering.py: all pairs that constraints allow occur, and no row violates a constraint."""
import itertools
import random
import unittest

import covering

FACTORS = {"a": [1, 2, 3], "b": [1, 2], "c": ["x", "y", "z"], "d": [True, False]}
CONSTRAINTS = [(("a", "b"), lambda a, b: a != b), (("b", "c", "d"), lambda b, c, d: c != "z" or (b == 1 and d))]


def allowed(row):
    return all(test(*(row[n] for n in names)) for names, test in CONSTRAINTS)


class Covering(unittest.TestCase):
    def test_all_possible_pairs_occur(self):
        every = [dict(zip(FACTORS, levels)) for levels in itertools.product(*FACTORS.values())]
        possible = set().union(*(covering.pairs_of(row) for row in every if allowed(row)))
        for seed in range(20):
            rows = covering.array(FACTORS, CONSTRAINTS, random.Random(seed))
            self.assertTrue(all(map(allowed, rows)))
            self.assertEqual(set().union(*map(covering.pairs_of, rows)), possible)
            self.assertLess(len(rows), 14)

    def test_a_seed_gives_the_same_rows(self):
        rows = [covering.array(FACTORS, CONSTRAINTS, random.Random(3)) for _ in range(2)]
        self.assertEqual(*rows)


if __name__ == "__main__":
    unittest.main()
