"""Lines, messages, and the pace of attempts."""

import random
import unittest

from ullage.backoff import Backoff
from ullage.errors import ProtocolError
from ullage.wire import MAX_LINE_BYTES, LineReader, decode, encode, integer, optional_integer, order_of

from tests.fake_worker import uniform


class Lines(unittest.TestCase):
    def test_lines_are_put_together_across_reads(self):
        reader = LineReader()
        self.assertEqual([], reader.feed(b'{"type"'))
        self.assertEqual([b'{"type":"a"}', b'{"type":"b"}'], reader.feed(b':"a"}\n{"type":"b"}\n{"ty'))
        self.assertEqual([b'{"type":"c"}'], reader.feed(b'pe":"c"}\n'))

    def test_a_line_of_64_kib_is_read_and_a_longer_one_is_not(self):
        reader = LineReader()
        self.assertEqual([b"x" * MAX_LINE_BYTES], reader.feed(b"x" * MAX_LINE_BYTES + b"\n"))
        with self.assertRaisesRegex(ProtocolError, "more than 65536 bytes"):
            reader.feed(b"x" * (MAX_LINE_BYTES + 1))

    def test_an_own_line_that_is_too_long_is_not_sent(self):
        with self.assertRaisesRegex(ProtocolError, "a hello line of"):
            encode({"type": "hello", "visibleDevices": "0," * 40000})

    def test_what_is_no_message_is_quoted(self):
        for line in (b"nonsense", b"[1]", b'{"type":1}', b"\xff\xfe", b"[" * 100000):
            with self.subTest(line[:20]), self.assertRaises(ProtocolError):
                decode(line)

    def test_only_integers_are_integers(self):
        self.assertIsNone(optional_integer({"type": "t", "a": None}, "a"))
        self.assertEqual(2 ** 60, integer({"type": "t", "a": 2 ** 60}, "a"))
        for bad in (True, 1.5, "1"):
            with self.assertRaisesRegex(ProtocolError, "t: a must be an integer"):
                integer({"type": "t", "a": bad}, "a")

    def test_an_order_ignores_phases_it_does_not_know(self):
        message = {"type": "limits", "sequence": 3, "limitBytes": dict(uniform(7), FUTURE=1)}
        self.assertEqual(uniform(7), order_of(message).limits)

    def test_a_bad_order_says_what_is_wrong(self):
        for limits, sequence in ((None, 1), ({"INIT": 1}, 1), (uniform(-1), 1), (uniform(1), 0), (uniform(1), None)):
            with self.assertRaisesRegex(ProtocolError, "limits: "):
                order_of({"type": "limits", "sequence": sequence, "limitBytes": limits})


class Pace(unittest.TestCase):
    def test_delays_double_up_to_the_most_with_jitter_and_start_over(self):
        backoff = Backoff(0.1, 1.0, random.Random(7))
        for base in (0.1, 0.2, 0.4, 0.8, 1.0, 1.0):
            delay = backoff.next_seconds()
            self.assertTrue(base / 2 <= delay <= base, (base, delay))
        backoff.reset()
        self.assertLessEqual(backoff.next_seconds(), 0.1)

    def test_the_same_seed_gives_the_same_delays(self):
        first, second = Backoff(rng=random.Random(3)), Backoff(rng=random.Random(3))
        self.assertEqual([first.next_seconds() for _ in range(9)], [second.next_seconds() for _ in range(9)])


if __name__ == "__main__":
    unittest.main()
