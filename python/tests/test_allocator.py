"""The counting allocator: refuses by number, keeps a cache, counts refusals."""

import threading
import unittest

from ullage.allocator import LimitedAllocator
from ullage.errors import MemoryLimitError


class Limited(unittest.TestCase):
    def test_without_a_limit_nothing_is_refused(self):
        allocator = LimitedAllocator()
        allocator.reserve(1 << 50)
        self.assertEqual((1 << 50, 0), (allocator.held_bytes(), allocator.refusals))

    def test_a_refusal_names_the_numbers_and_takes_nothing(self):
        allocator = LimitedAllocator(100)
        allocator.reserve(70)
        with self.assertRaises(MemoryLimitError) as caught:
            allocator.reserve(31)
        self.assertEqual("refused 31 bytes: 70 allocated, limit 100, free 30", str(caught.exception))
        self.assertIsInstance(caught.exception, MemoryError)
        self.assertEqual((70, 1), (allocator.allocated_bytes, allocator.refusals))
        allocator.reserve(30)

    def test_what_is_released_stays_held_until_the_cache_is_released(self):
        allocator = LimitedAllocator(100)
        allocator.reserve(80)
        allocator.release(50)
        self.assertEqual((30, 80), (allocator.allocated_bytes, allocator.held_bytes()))
        allocator.release_cache()
        self.assertEqual(30, allocator.held_bytes())

    def test_a_limit_below_what_is_held_leaves_that_usable(self):
        allocator = LimitedAllocator()
        allocator.reserve(80)
        allocator.apply(50, "IDLE")
        allocator.release(10)
        allocator.reserve(10)
        with self.assertRaises(MemoryLimitError):
            allocator.reserve(1)

    def test_usage_keeps_the_peaks(self):
        allocator = LimitedAllocator(100)
        allocator.reserve(90)
        allocator.release(90)
        allocator.release_cache()
        usage = allocator.usage()
        self.assertEqual((0, 0, 90, 90, 0), (usage.allocated_bytes, usage.reserved_bytes, usage.peak_allocated_bytes,
                                             usage.peak_reserved_bytes, usage.refusals))

    def test_more_cannot_be_released_than_was_reserved(self):
        allocator = LimitedAllocator()
        for bad in (1, -1):
            with self.assertRaises(ValueError):
                allocator.release(bad)
        with self.assertRaises(ValueError):
            allocator.reserve(-1)

    def test_many_threads_never_pass_the_limit(self):
        allocator = LimitedAllocator(100)
        over = []

        def work():
            for _ in range(2000):
                try:
                    allocator.reserve(7)
                except MemoryLimitError:
                    continue
                if allocator.allocated_bytes > 100:
                    over.append(allocator.allocated_bytes)
                allocator.release(7)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], over)
        self.assertEqual(0, allocator.allocated_bytes)


if __name__ == "__main__":
    unittest.main()
