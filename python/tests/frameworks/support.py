"""What the tests with real frameworks share: a real worker, and programs that train and wait to be looked at."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = Path(__file__).resolve().parent / "programs"
ULLAGE = ROOT / "cli" / "target" / "dist" / "bin" / "ullage"
GIB = 1 << 30
MIB = 1 << 20
#: Long enough for a machine that is busy with other tests; nothing waits that long when all is well.
PATIENCE = 40.0


class RealWorker:
    """``ullage up`` with simulated devices, on ports of its own."""

    def __init__(self, devices):
        self._folder = tempfile.TemporaryDirectory(prefix="ullage-frameworks-")
        self.process = subprocess.Popen(
            [str(ULLAGE), "up", "--simulate", devices, "--state", self._folder.name, "--port", "0",
             "--cluster-port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.server = None
        for line in self.process.stdout:
            found = re.match(r"\s*API\s+(http://\S+)", line)
            self.server = found.group(1) if found else self.server
            if "ullage exec" in line:
                break
        self.socket = os.path.join(self._folder.name, "ranks.sock")
        if self.server is None:
            self.stop()
            raise AssertionError("ullage up did not become ready")

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)
        self._folder.cleanup()

    def status(self):
        """What ``ullage status --json`` prints."""
        with urllib.request.urlopen(self.server + "/api/v1/status", timeout=10) as answer:
            return json.load(answer)

    def ranks(self, job):
        """The ranks of a job, by device."""
        devices = [device for node in self.status()["nodes"] for device in node["devices"] or []]
        return [rank for device in devices for rank in device["ranks"] or [] if rank["job"] == job]

    def wait_for_rank(self, job, condition, what):
        """The job's only rank, once ``condition(rank)`` holds."""
        deadline = time.monotonic() + PATIENCE
        ranks = []
        while time.monotonic() < deadline:
            ranks = self.ranks(job)
            if len(ranks) == 1 and condition(ranks[0]):
                return ranks[0]
            time.sleep(0.1)
        raise AssertionError(f"not within {PATIENCE:.0f} s: {what}; ranks {ranks}")

    def table(self):
        """What ``ullage status`` prints."""
        return self._command("status", "--server", self.server)

    def set_share(self, job, share):
        self._command("set", "share", job, share, "--server", self.server,
                      "--token-file", os.path.join(self._folder.name, "operator.token"))

    @staticmethod
    def _command(*arguments):
        return subprocess.run([str(ULLAGE), *arguments], check=True, capture_output=True, text=True,
                              timeout=PATIENCE).stdout


class Program:
    """One of the programs as a process: it prints JSON lines and goes on when it is told to."""

    def __init__(self, name, socket, *arguments, exec_options=None, **env):
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith(("ULLAGE_", "XLA_", "TF_", "KERAS_", "CUDA_", "NVIDIA_"))}
        command = [sys.executable, str(PROGRAMS / name), *arguments]
        if exec_options is not None:
            command = [sys.executable, "-m", "ullage", "exec", *exec_options, "--", *command]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            env=dict(clean, ULLAGE_SOCKET=socket, PYTHONPATH=str(ROOT / "python"), TF_CPP_MIN_LOG_LEVEL="3",
                     JAX_PLATFORMS="cpu", **env))

    def hear(self):
        """The next JSON line."""
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.log.seek(0)
        raise AssertionError(f"ended with {self.process.wait()}: {self.log.read()[-3000:]}")

    def go_on(self, wish=None):
        """Lets it go on, with something to do or without."""
        self.process.stdin.write(("" if wish is None else json.dumps(wish)) + "\n")
        self.process.stdin.flush()

    def end(self):
        """Waits for the end; returns the exit code and what it logged."""
        self.process.communicate(timeout=PATIENCE)
        self.log.seek(0)
        return self.process.returncode, self.log.read()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate(timeout=PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.log):
            stream.close()


class FrameworkTest(unittest.TestCase):
    """A test that starts programs; each is gone at its end."""

    def start(self, name, socket, *arguments, **options):
        program = Program(name, socket, *arguments, **options)
        self.addCleanup(program.close)
        return program


@unittest.skipUnless(ULLAGE.exists(), f"no distribution at {ULLAGE}: ./ullage builds it")
class WithRealWorker(FrameworkTest):
    """A worker and a coordinator for all tests of a class, with four simulated devices."""

    @classmethod
    def setUpClass(cls):
        cls.worker = RealWorker("4xH100-80G")
        cls.addClassCleanup(cls.worker.stop)
