"""Watching an allocator: what belongs to which phase, what stays unknown, how often something is said."""

import unittest

from ullage.allocator import LimitedAllocator
from ullage.errors import MemoryLimitError
from ullage.phases import PHASES
from ullage.watch import Layout, Reading, TorchReader, Watch, layout_of

from tests.with_worker import WithWorker

GIB = 1 << 30


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Watched(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.sent = []
        self.watch = Watch(self.sent.append, self.clock)
        self.watch.welcomed({"type": "welcome", "snapshotSteps": 0})
        self.allocator = LimitedAllocator()

    def step(self, number, forward=0, optimizer=0):
        """One step that takes memory in two of its phases and returns it at their ends."""
        for before, phase, nbytes in (("IDLE", "FORWARD", forward), ("FORWARD", "OPTIMIZER", optimizer)):
            self.watch.leaving(self.allocator, before, number - 1)
            self.allocator.reserve(nbytes)
            self.allocator.release(nbytes)
            self.allocator.release_cache()
        self.watch.step_done(self.allocator, "OPTIMIZER", number)
        self.watch.leaving(self.allocator, "OPTIMIZER", number)

    def test_peaks_of_a_larger_batch_are_not_those_of_a_smaller_one(self):
        self.watch.cut_as(self.allocator, 0, {"samples": 8, "microBatch": 8})
        self.step(1, forward=800)
        self.assertEqual({"samples": 8, "microBatch": 8}, self.sent[0]["batch"])
        self.step(2, forward=800)
        self.watch.cut_as(self.allocator, 2, {"samples": 3, "microBatch": 3})
        self.clock.now += 2

        self.step(3, forward=300)

        self.assertEqual((3, 1), (self.sent[1]["step"], self.sent[1]["steps"]))
        self.assertEqual(300, self.sent[1]["phases"]["FORWARD"]["peakReservedBytes"])
        self.assertEqual({"samples": 3, "microBatch": 3}, self.sent[1]["batch"])

    def test_how_a_batch_is_cut_is_said_of_an_allocator_that_cannot_be_watched(self):
        self.watch.cut_as(object(), 0, {"samples": 8, "microBatch": 8})
        self.watch.step_done(object(), "OPTIMIZER", 1)
        self.assertEqual({"samples": 8, "microBatch": 8}, self.sent[0]["batch"])

    def test_each_phase_has_its_own_peak(self):
        self.step(1, forward=500, optimizer=200)

        self.assertEqual(("phase-summary", 1, 1), tuple(self.sent[0][key] for key in ("type", "step", "steps")))
        self.assertEqual({"FORWARD": 500, "OPTIMIZER": 200, "IDLE": 0},
                         {phase: peaks["peakReservedBytes"] for phase, peaks in self.sent[0]["phases"].items()})
        self.assertEqual(2, self.sent[0]["allocations"])

    def test_a_summary_comes_at_most_once_a_second_and_covers_every_step_since(self):
        self.step(1, forward=500)
        for number in range(2, 10):
            self.clock.now += 0.125
            self.step(number, forward=100 * number)

        self.assertEqual([(1, 1), (9, 8)], [(line["step"], line["steps"]) for line in self.sent])
        self.assertEqual(900, self.sent[1]["phases"]["FORWARD"]["peakAllocatedBytes"])

    def sizes(self, line):
        return {size["samples"]: size["phases"]["FORWARD"]["peakAllocatedBytes"] for size in line["microBatches"]}

    def said(self, size, number):
        """The training says the size between two steps."""
        self.watch.micro_batch(self.allocator, "IDLE", size)
        self.clock.now += 2
        self.step(number, forward=100 * size)
        return self.sent[-1]

    def test_peaks_are_told_apart_by_the_size_of_the_micro_batch_from_the_second_step_on(self):
        self.step(1, forward=100)
        self.assertNotIn("microBatch", self.sent[0])
        self.assertEqual({4: 400}, self.sizes(self.said(4, 2)))
        self.assertEqual({4: 400, 8: 800}, self.sizes(self.said(8, 3)))
        self.assertEqual({4: 400, 8: 800}, self.sizes(self.said(4, 4)))
        self.assertEqual(4, self.sent[-1]["microBatch"])

    def test_the_first_step_counts_for_no_size(self):
        line = self.said(4, 1)
        self.assertEqual((4, []), (line["microBatch"], line["microBatches"]))

    def test_what_the_limit_cut_short_counts_for_no_size(self):
        self.said(4, 1)
        self.said(4, 2)
        self.watch.micro_batch(self.allocator, "IDLE", 8)
        self.watch.leaving(self.allocator, "IDLE", 2)
        self.allocator.apply(500, "FORWARD")
        with self.assertRaises(MemoryLimitError):
            self.allocator.reserve(800)
        self.watch.leaving(self.allocator, "FORWARD", 2)
        self.assertEqual({4: 400}, {size: peaks["FORWARD"][1] for size, peaks in self.watch._sizes.items()
                                    if "FORWARD" in peaks})

    def test_a_size_that_is_none_is_refused_and_their_number_is_bounded(self):
        with self.assertRaises(ValueError):
            self.watch.micro_batch(self.allocator, "IDLE", 0)
        self.step(1)
        for number in range(2, 30):
            self.said(number, number)
        self.assertEqual(8, len(self.sizes(self.sent[-1])))
        self.assertEqual((2, 29), (min(self.sizes(self.sent[-1])), max(self.sizes(self.sent[-1]))))

    def test_what_the_allocator_does_not_know_is_null(self):
        self.step(1)

        self.assertEqual([None] * 4, [self.sent[0][key] for key in
                                      ("epoch", "requestedBytes", "inactiveSplitBytes", "retries")])

    def test_nothing_is_said_of_an_allocator_that_cannot_be_watched_but_the_epoch_is(self):
        self.watch.step_done(object(), "OPTIMIZER", 1)
        self.assertEqual([], self.sent)

        self.watch.epoch(3)
        self.watch.step_done(object(), "OPTIMIZER", 2)
        self.assertEqual((3, None), (self.sent[0]["epoch"], self.sent[0]["reservedBytes"]))
        with self.assertRaisesRegex(ValueError, "epoch must be 0 or more: -1"):
            self.watch.epoch(-1)

    def test_an_allocator_that_fails_is_asked_once(self):
        class Broken:
            asked = 0

            def watched(self):
                self.asked += 1
                raise RuntimeError("no statistics")

        broken = Broken()
        with self.assertLogs("ullage", "WARNING"):
            self.watch.leaving(broken, "IDLE", 0)
        self.watch.step_done(broken, "IDLE", 1)

        self.assertEqual((1, []), (broken.asked, self.sent))

    def test_a_snapshot_is_taken_as_often_as_the_worker_says(self):
        self.watch.welcomed({"type": "welcome", "snapshotSteps": 3})
        self.allocator.reserve(7)
        for number in range(1, 8):
            self.step(number)

        snapshots = [line for line in self.sent if line["type"] == "snapshot"]
        self.assertEqual([(3, 7, None), (6, 7, None)],
                         [(line["step"], line["allocatedBytes"], line["segments"]) for line in snapshots])
        self.watch.welcomed({"type": "welcome", "snapshotSteps": 0})
        self.step(9)
        self.assertEqual(2, len([line for line in self.sent if line["type"] == "snapshot"]))

    def test_a_worker_that_does_not_know_of_watching_is_told_nothing_and_a_newer_one_what_was_missed(self):
        self.watch.welcomed({"type": "welcome"})
        self.step(1, forward=500)
        self.assertEqual([], self.sent)

        self.watch.welcomed({"type": "welcome", "snapshotSteps": 500})
        self.step(2, forward=100)
        self.assertEqual(500, self.sent[0]["phases"]["FORWARD"]["peakReservedBytes"])

    def test_the_cache_is_released_once_at_the_next_phase_change_and_the_gain_measured(self):
        self.allocator.reserve(100)
        self.allocator.release(60)
        self.watch.want_release()
        self.assertEqual(100, self.allocator.held_bytes())

        self.watch.leaving(self.allocator, "IDLE", 4)
        self.watch.leaving(self.allocator, "FORWARD", 4)

        self.assertEqual([{"type": "cache-released", "step": 4, "beforeBytes": 100, "afterBytes": 40}], self.sent)


def stats(allocated, reserved, peak_allocated, peak_reserved, **more):
    """What torch returns, as far as it matters."""
    return dict({
        "allocated_bytes": {"all": {"current": allocated, "peak": peak_allocated}},
        "reserved_bytes": {"all": {"current": reserved, "peak": peak_reserved}},
        "inactive_split_bytes": {"all": {"current": 3, "peak": 9}},
        "allocation": {"all": {"current": 5, "allocated": 1234}},
        "num_alloc_retries": 2, "num_ooms": 1}, **more)


class FromTorch(unittest.TestCase):
    def test_without_resetting_a_phase_has_the_peak_that_rose_in_it(self):
        reader = TorchReader()
        first = reader.read(stats(10, 20, 15, 20))
        quiet = reader.read(stats(11, 20, 15, 20))
        risen = reader.read(stats(12, 30, 28, 30))
        released = reader.read(stats(12, 16, 28, 30))

        self.assertEqual([15, None, 28, None],
                         [one.peak_allocated_bytes for one in (first, quiet, risen, released)])
        self.assertEqual([20, 20, 30, 30], [one.peak_reserved_bytes for one in (first, quiet, risen, released)])
        self.assertEqual(16, reader.read(stats(12, 16, 28, 30)).peak_reserved_bytes)

    def test_with_resetting_every_phase_has_its_own_and_the_highest_is_kept(self):
        resets = []
        reader = TorchReader(lambda: resets.append(1))
        peaks = [reader.read(stats(1, 2, peak, peak + 1)).peak_allocated_bytes for peak in (15, 9, 12)]

        self.assertEqual(([15, 9, 12], 3), (peaks, len(resets)))
        self.assertEqual(15, reader.most("allocated_bytes", 4))

    def test_a_peak_that_the_user_reset_is_no_peak_of_the_phase(self):
        reader = TorchReader()
        reader.read(stats(10, 20, 40, 40))

        self.assertIsNone(reader.read(stats(10, 20, 10, 20)).peak_allocated_bytes)
        self.assertEqual(25, reader.read(stats(10, 20, 25, 30)).peak_allocated_bytes)

    def test_keys_that_this_torch_does_not_have_are_unknown(self):
        reading = TorchReader().read({})
        self.assertEqual(Reading(), reading)
        self.assertIsNone(TorchReader().read(stats(1, 1, 1, 1)).requested_bytes)

    def test_rejections_by_the_limit_are_told_from_ooms_where_torch_does(self):
        self.assertEqual(1, TorchReader().read(stats(1, 1, 1, 1)).ooms)
        self.assertEqual(7, TorchReader().read(stats(1, 1, 1, 1, num_oom_rejections=7)).ooms)

    def test_the_layout_counts_the_segments_of_one_device(self):
        segments = [
            {"device": 0, "total_size": 20, "blocks": [{"size": 12, "state": "active_allocated"},
                                                      {"size": 8, "state": "inactive"}]},
            {"device": 0, "total_size": 30, "blocks": [{"size": 30, "state": "inactive"}]},
            {"device": 1, "total_size": 90, "blocks": [{"size": 90, "state": "inactive"}]}]

        self.assertEqual(Layout(2, 30, 8), layout_of(segments, 0))


class ByARank(WithWorker):
    def test_a_training_is_told_phase_by_phase(self):
        allocator = LimitedAllocator()
        rank = self.attached(self.connect(applier=allocator))
        rank.epoch(2)
        for phase in ("forward", "backward"):
            with rank.phase(phase):
                allocator.reserve(GIB)
        with rank.phase("optimizer"):
            rank.step_done()

        summary = self.worker.wait_for("phase-summary")
        self.assertEqual((1, 2, 2 * GIB), (summary["step"], summary["epoch"], summary["allocatedBytes"]))
        self.assertEqual({"FORWARD": GIB, "BACKWARD": 2 * GIB},
                         {phase: summary["phases"][phase]["peakReservedBytes"] for phase in ("FORWARD", "BACKWARD")})
        self.assertLessEqual(set(summary["phases"]), set(PHASES))

    def test_the_worker_asks_for_the_cache(self):
        allocator = LimitedAllocator()
        rank = self.attached(self.connect(applier=allocator))
        allocator.reserve(100)
        allocator.release(100)
        self.worker.say({"type": "release-cache"})
        self.worker.wait_until(lambda: rank.watch._release_wanted, what="request")

        rank.enter_phase("forward")

        self.worker.wait_for("cache-released", step=0, beforeBytes=100, afterBytes=0)


if __name__ == "__main__":
    unittest.main()
