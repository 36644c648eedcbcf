"""What tests with a fake worker share."""

import logging
import unittest

import ullage

from tests.fake_worker import FakeWorker

logging.getLogger("ullage").addHandler(logging.NullHandler())
logging.getLogger("ullage").propagate = False


class WithWorker(unittest.TestCase):
    """One fresh worker for each test; ranks opened with ``connect`` are closed."""

    def setUp(self):
        self.worker = FakeWorker()
        self.addCleanup(self.worker.__exit__)

    def connect(self, rank=0, **options):
        env = {"RANK": str(rank), "WORLD_SIZE": "8", "LOCAL_RANK": str(rank), "TORCHELASTIC_RUN_ID": "job"}
        found = ullage.connect(self.worker.path, environ=env, **options)
        self.addCleanup(found.close)
        return found

    def attached(self, rank):
        self.worker.wait_until(lambda: rank._calls.connected, what="call connection")
        return rank
