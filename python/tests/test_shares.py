"""Shares of a batch, without torch: what a directive says, and which rank trains on what."""

import random
import unittest

from ullage.mailbox import Directive
from ullage.shares import ShareBatches, Shares, evenly, fingerprint


def line(**other):
    return dict({"type": "directive", "job": "job", "sequence": 3, "step": 0, "level": "LIMIT", "restart": False},
                **other)


class SaidShares(unittest.TestCase):
    def test_a_directive_has_shares_or_none(self):
        shares = {"since": 3, "orders": 1, "rounds": 2, "samples": [5, 3]}
        self.assertEqual(Shares(3, 2, (5, 3)), Directive.of(line(shares=shares)).shares)
        self.assertTrue(Directive.of(line(shares=shares)).is_share_order)
        self.assertFalse(Directive.of(line(sequence=4, shares=shares)).is_share_order, "a move that keeps them")
        self.assertFalse(Directive.of(line()).is_share_order)
        for bad in ({}, dict(shares, samples=[5, 0]), dict(shares, samples=[5, "3"]), dict(shares, rounds=0),
                    dict(shares, since=True)):
            with self.subTest(bad=bad), self.assertLogs("ullage"):
                self.assertIsNone(Directive.of(line(shares=bad)).shares)

    def test_shares_are_those_of_a_job_with_as_many_ranks_and_samples(self):
        shares = Shares(1, 1, (5, 3))
        self.assertTrue(shares.fits(2, 8))
        self.assertFalse(shares.fits(3, 8))
        self.assertFalse(shares.fits(2, 9))

    def test_the_fingerprint_differs_where_ranks_would_differ(self):
        marks = {fingerprint(one) for one in (None, Shares(1, 1, (5, 3)), Shares(1, 2, (5, 3)), Shares(1, 1, (3, 5)))}
        self.assertEqual(4, len(marks))
        self.assertEqual(fingerprint(Shares(1, 1, (5, 3))), fingerprint(Shares(2, 1, (5, 3))))


class Batches(unittest.TestCase):
    def test_each_rank_needs_a_sample(self):
        with self.assertRaisesRegex(ValueError, "a batch of 2 for rank 0 of 3"):
            ShareBatches(range(9), 2, 0, 3)

    def test_an_even_share_gives_what_is_left_to_the_first(self):
        self.assertEqual((3, 3, 2), evenly(8, 3))
        parts = [list(ShareBatches(range(17), 8, rank, 3)) for rank in range(3)]
        self.assertEqual([[0, 1, 2], [8, 9, 10]], parts[0])
        self.assertEqual([[6, 7], [14, 15]], parts[2], "and an incomplete batch is left out")
        self.assertEqual(2, len(ShareBatches(range(17), 8, 0, 3)))

    def test_whatever_is_drawn_ahead_every_sample_is_one_ranks_and_only_one_ranks(self):
        """Ranks that draw ahead by 0 to 5 batches, through passes, with shares that change at any step."""
        for seed in range(200):
            dice = random.Random(seed)
            ranks, passes = dice.randint(1, 5), 3
            batch, size = dice.randint(ranks, 20), dice.randint(20, 90)
            data = list(range(size))
            mine = [ShareBatches(data, batch, rank, ranks) for rank in range(ranks)]
            ahead = [dice.randint(0, 5) for _ in range(ranks)]
            for _ in range(passes):
                loaders = [iter(one) for one in mine]
                drawn = [[] for _ in range(ranks)]
                for step in range(size // batch):
                    used = []
                    for rank in range(ranks):
                        while len(drawn[rank]) <= ahead[rank]:
                            part = next(loaders[rank], None)
                            if part is None:
                                break
                            drawn[rank].append(part)
                        used += drawn[rank].pop(0)
                    self.assertEqual(data[step * batch:(step + 1) * batch], used, f"seed {seed}")
                    if dice.random() < 0.3:
                        cuts = sorted(dice.sample(range(1, batch), ranks - 1))
                        shares = [end - start for start, end in zip([0] + cuts, cuts + [batch])]
                        position = max(one.position for one in mine)
                        for one in mine:
                            one.take(shares, position)
                            self.assertEqual(tuple(shares), one.newest)

    def test_shares_hold_through_the_passes_that_follow(self):
        batches = ShareBatches(range(8), 4, 1, 2)
        list(batches)
        batches.take([3, 1], batches.position)
        self.assertEqual([[3], [7]], list(batches))
        self.assertEqual((3, 1), batches.shares)
