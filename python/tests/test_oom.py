"""What the texts of out-of-memory errors say, over several eras of torch; the file names where they come from."""

import json
import unittest
from pathlib import Path

from ullage.errors import MemoryLimitError
from ullage.oom import DEVICE_FULL, NOT_AN_OOM, OWN_LIMIT, UNKNOWN, classify, expandable_segments, of_error

MESSAGES = json.loads((Path(__file__).parent / "data/oom-messages.json").read_text(encoding="utf-8"))["messages"]
MIB = 1 << 20
FIELDS = {"req_mib": "requested_bytes", "free_mib": "free_bytes", "reserved_unalloc_mib": "unused_bytes",
          "foreign_mib": "foreign_bytes", "private_pool_mib": "private_pool_bytes"}


class Texts(unittest.TestCase):
    def test_each_gives_the_listed_class_and_figures(self):
        self.assertGreaterEqual(len(MESSAGES), 10)
        for message in MESSAGES:
            with self.subTest(message["id"]):
                found = classify(message["text"])
                self.assertEqual(message["expect"]["class"], found.kind)
                for name, field in FIELDS.items():
                    if name in message["expect"]:
                        self.assertAlmostEqual(message["expect"][name], getattr(found, field) / MIB, delta=0.01)
                if "foreign_pid" in message["expect"]:
                    self.assertEqual(message["expect"]["foreign_pid"], found.foreign_pid)

    def test_what_a_text_does_not_say_is_not_known(self):
        found = classify("CUDA error: out of memory")
        self.assertEqual(UNKNOWN, found.kind)
        self.assertIsNone(found.requested_bytes)
        self.assertIsNone(found.reserved_bytes)

    def test_reserved_in_total_gives_what_is_unused(self):
        found = classify("CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 6.00 GiB"
                         " already allocated; 14.88 MiB free; 6.50 GiB reserved in total by PyTorch)")
        self.assertEqual("FRAGMENTATION", found.kind)
        self.assertEqual(512 * MIB, found.unused_bytes)
        self.assertEqual(int(6.5 * 1024) * MIB, found.reserved_bytes)

    def test_other_texts_are_none(self):
        for text in ("", "NCCL timeout", "the memory of an elephant"):
            self.assertEqual(NOT_AN_OOM, classify(text).kind)


class Errors(unittest.TestCase):
    def test_a_refusal_of_our_own_allocator_is_the_own_limit(self):
        found = of_error(MemoryLimitError(10, 90, 95))
        self.assertEqual((OWN_LIMIT, 10, 90, 95),
                         (found.kind, found.requested_bytes, found.allocated_bytes, found.limit_bytes))

    def test_a_runtime_error_is_one_only_by_its_text(self):
        self.assertIsNone(of_error(RuntimeError("shape mismatch")))
        self.assertEqual(DEVICE_FULL, of_error(RuntimeError(MESSAGES[1]["text"])).kind)

    def test_a_class_named_so_is_one_whatever_it_says(self):
        kind = type("OutOfMemoryError", (RuntimeError,), {})
        self.assertEqual(UNKNOWN, of_error(kind("something")).kind)
        self.assertEqual(UNKNOWN, of_error(MemoryError()).kind)

    def test_other_errors_are_none_whatever_they_say(self):
        self.assertIsNone(of_error(ValueError("out of memory")))


class AllocatorSetting(unittest.TestCase):
    def test_it_is_read_from_both_names(self):
        self.assertFalse(expandable_segments({}))
        self.assertFalse(expandable_segments({"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"}))
        self.assertTrue(expandable_segments({"PYTORCH_CUDA_ALLOC_CONF": "a:1, expandable_segments:True"}))
        self.assertTrue(expandable_segments({"PYTORCH_ALLOC_CONF": "expandable_segments:True"}))
