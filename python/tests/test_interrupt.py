"""How a directive reaches a step: the mailbox, who is interrupted for it, and how a batch is cut."""

import threading
import unittest
import unittest.mock

from ullage.batches import cut, rows
from ullage.interrupt import Interrupter
from ullage.mailbox import Directive, Mailbox

from tests.directives import directive, share_order


class Batches(unittest.TestCase):
    def test_parts_have_the_batchs_shape(self):
        with self.assertRaisesRegex(ValueError, "parts of one length"):
            rows({"x": "abc", "y": "ab"})
        self.assertEqual(2, rows({"x": "ab", "y": ("cd",)}))
        self.assertEqual([(1, {"x": "a", "y": ("c",)}), (1, {"x": "b", "y": ("d",)})],
                         list(cut({"x": "ab", "y": ("cd",)}, 1)))


class Mail(unittest.TestCase):
    def test_only_a_newer_directive_counts(self):
        mail = Mailbox(lambda: None)
        heard = []
        mail.on_directive(lambda one: heard.append(one.sequence))
        for sequence in (2, 2, 1, 3):
            mail.received(directive(sequence))
        self.assertEqual([2, 3], heard)
        self.assertEqual(3, mail.wait(2, 0).sequence)
        self.assertIsNone(mail.wait(3, 0))

    def test_what_is_kept_is_said_again_after_each_welcome_until_dropped(self):
        mail = Mailbox(lambda: None)
        mail.keep({"type": "oom", "step": 1})
        mail.keep({"type": "oom", "step": 2})
        self.assertEqual(b'{"type":"oom","step":2}\n', mail.next_line())
        self.assertEqual(b"", mail.next_line())
        mail.welcomed()
        self.assertEqual(b'{"type":"oom","step":2}\n', mail.next_line())
        mail.drop("oom")
        mail.welcomed()
        self.assertEqual(b"", mail.next_line())


class Interruption(unittest.TestCase):
    def setUp(self):
        self.ended = threading.Event()
        self.watch = Interrupter(0.05, end=lambda reason: self.ended.set())

    def test_a_rank_that_does_not_take_a_directive_up_in_its_step_is_ended(self):
        with self.watch.inside(restartable=False):
            self.watch.ordered(Directive.of(directive()))
            self.assertTrue(self.ended.wait(5))

    def test_one_that_enters_a_step_with_a_directive_has_the_same_time(self):
        self.watch.ordered(Directive.of(directive()))
        self.assertFalse(self.ended.wait(0.3), "outside of a step it may write a checkpoint for as long as it takes")
        with self.watch.inside(restartable=False):
            self.assertTrue(self.ended.wait(5))

    def test_one_that_takes_it_up_is_not(self):
        with self.watch.inside(restartable=False):
            self.watch.ordered(Directive.of(directive()))
            self.watch.applied(1)
            self.assertFalse(self.ended.wait(0.3))

    def test_nobody_is_ended_for_an_order_of_shares(self):
        with self.watch.inside(restartable=True):
            self.watch.ordered(Directive.of(share_order(1)))
            self.assertFalse(self.ended.wait(0.3))

    def test_one_that_leaves_its_step_is_not(self):
        with self.watch.inside(restartable=False):
            self.watch.ordered(Directive.of(directive()))
        self.assertFalse(self.ended.wait(0.3))

    def test_a_process_that_was_started_since_is_not(self):
        with self.watch.inside(restartable=False):
            self.watch.ordered(Directive.of(directive(resumed=True)))
            self.assertFalse(self.ended.wait(0.3))

    def test_where_groups_can_be_aborted_that_comes_first_and_an_end_only_when_it_frees_nobody(self):
        aborts = []
        watch = Interrupter(0.2, end=lambda reason: self.ended.set(), abort=lambda: aborts.append(1) or True)
        with unittest.mock.patch("ullage.interrupt.RESTART_SECONDS", 0.05):
            with watch.inside(restartable=True):
                watch.ordered(Directive.of(directive(restart=True)))
                self.assertTrue(self.ended.wait(5))
        self.assertEqual([1], aborts)
        self.assertTrue(watch.aborted)
        with watch.inside(restartable=True):
            self.assertFalse(watch.aborted, "that was another step")

    def test_an_abort_that_fails_or_hangs_is_an_end(self):
        hanging = threading.Event()
        self.addCleanup(hanging.set)
        for abort in (lambda: False, lambda: hanging.wait(10)):
            ended = threading.Event()
            watch = Interrupter(0.1, end=lambda reason: ended.set(), abort=abort)
            with unittest.mock.patch("ullage.interrupt.RESTART_SECONDS", 0.05):
                with watch.inside(restartable=True):
                    watch.ordered(Directive.of(directive(restart=True)))
                    self.assertTrue(ended.wait(5))
