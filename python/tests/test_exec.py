"""``python3 -m ullage``: the command keeps its pid, its signals and its exit code, and resumes what is in force."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from ullage.device import Device
from ullage.execution import fraction_text, framework_settings, torch_version_for

from tests.fake_worker import FakeWorker, uniform

ROOT = Path(__file__).resolve().parent.parent
GIB = 1 << 30
SHOW = "import os, json; print(json.dumps(dict(os.environ, PID=str(os.getpid()))))"


class Exec(unittest.TestCase):
    def setUp(self):
        self.worker = FakeWorker(sequence=3, limits=uniform(8 * GIB, FORWARD=10 * GIB))
        self.addCleanup(self.worker.__exit__)

    def start(self, *arguments, **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("XLA_", "PYTORCH_", "ULLAGE_"))}
        env = dict(clean, ULLAGE_SOCKET=self.worker.path, PYTHONPATH=str(ROOT), **env)
        return subprocess.Popen([sys.executable, "-m", "ullage", "exec", *arguments], env=env, cwd="/", text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, *arguments, **env):
        process = self.start(*arguments, **env)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def test_the_command_finds_its_limit_in_the_environment(self):
        code, out, err = self.finish("--", sys.executable, "-c", SHOW)
        self.assertEqual((0, ""), (code, err))
        env = json.loads(out)
        hello = self.worker.wait_for("hello")
        self.assertEqual(str(hello["pid"]), env["PID"], "the same process")
        self.assertEqual((self.worker.path, hello["job"],
                          "GPU-5a000000-0000-0000-0000-000000000000", str(10 * GIB),
                          f"3:{10 * GIB}:{env['PID']}"),
                         (env["ULLAGE_SOCKET"], env["ULLAGE_JOB"], env["ULLAGE_DEVICE"], env["ULLAGE_LIMIT_BYTES"],
                          env["ULLAGE_IN_FORCE"]))
        self.assertNotIn("XLA_CLIENT_MEM_FRACTION", env, "the device is simulated")
        self.worker.wait_for("confirm", sequence=3, limitBytes=10 * GIB)
        self.assertEqual([], self.worker.heard("bye"))

    def test_a_real_device_sets_the_fraction_rounded_down(self):
        self.worker.device_kind = "discrete"
        code, out, _ = self.finish("--", sys.executable, "-c", SHOW)
        self.assertEqual((0, "0.125000"), (code, json.loads(out)["XLA_CLIENT_MEM_FRACTION"]))
        code, out, _ = self.finish("--", sys.executable, "-c", SHOW, XLA_CLIENT_MEM_FRACTION=".5")
        self.assertEqual(".5", json.loads(out)["XLA_CLIENT_MEM_FRACTION"])

    def test_the_script_resumes_what_is_in_force_and_a_child_of_it_does_not(self):
        script = ("import ullage, subprocess, sys; rank = ullage.connect(); "
                  "print(rank.in_force.limit_bytes, flush=True); rank.close(); "
                  "subprocess.run([sys.executable, '-c', 'import ullage; ullage.connect()'])")
        code, out, _ = self.finish("--", sys.executable, "-c", script)
        self.assertEqual((0, str(10 * GIB)), (code, out.split()[0]))
        first, second, child = (self.worker.wait_for("hello", number) for number in (1, 2, 3))
        self.assertEqual((None, first["pid"], {"sequence": 3, "limitBytes": 10 * GIB}),
                         (first["inForce"], second["pid"], second["inForce"]))
        self.assertEqual(first["job"], second["job"])
        self.assertEqual((None, True), (child["inForce"], child["pid"] != first["pid"]))

    def test_the_exit_code_is_the_commands_own(self):
        self.assertEqual(23, self.finish("--", "sh", "-c", "exit 23")[0])

    def test_signals_reach_the_command_itself(self):
        process = self.start("--", sys.executable, "-u", "-c", (
            "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *a: sys.exit(7)); print('up'); "
            "time.sleep(60)"))
        self.assertEqual("up\n", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
        self.assertEqual(7, process.returncode)

    def test_death_by_signal_stays_death_by_signal(self):
        self.assertEqual(-signal.SIGKILL, self.finish("--", "sh", "-c", "kill -KILL $$")[0])

    def test_a_broken_pipe_ends_the_command_as_usual(self):
        code, out, err = self.finish("--", "sh", "-c", "yes | head -1")
        self.assertEqual((0, "y\n", ""), (code, out, err))

    def test_command_not_found_and_not_executable(self):
        code, _, err = self.finish("--", "no-such-command")
        self.assertEqual((127, "ullage exec: no-such-command: command not found\n"), (code, err))
        with tempfile.NamedTemporaryFile() as file:
            code, _, err = self.finish("--", file.name)
            self.assertEqual((126, f"ullage exec: {file.name}: not an executable file\n"), (code, err))
            os.chmod(file.name, 0o755)
        with tempfile.NamedTemporaryFile("w", suffix=".bin", delete=False) as file:
            file.write("\x7fELF nonsense")
        self.addCleanup(os.unlink, file.name)
        os.chmod(file.name, 0o755)
        code, _, err = self.finish("--", file.name)
        self.assertEqual(126, code, err)

    def test_usage_errors(self):
        for arguments in ((), ("--",), ("--timeout", "x", "--", "true"), ("--nonsense", "--", "true")):
            self.assertEqual(2, self.finish(*arguments)[0], arguments)

    def test_required_and_not_there(self):
        code, out, err = self.finish("--require", "--timeout", "0.2", "--socket", "/nonexistent/s", "--", "echo", "x")
        self.assertEqual((75, ""), (code, out))
        self.assertIn("no worker within 0.2 s", err)
        self.worker.limits = None
        code, out, err = self.finish("--require", "--timeout", "0.2", "--", "echo", "x")
        self.assertEqual((75, ""), (code, out))
        self.assertIn("the worker granted no limit within 0.2 s", err)

    def test_not_required_goes_on_with_a_warning(self):
        self.worker.limits = None
        code, out, err = self.finish("--timeout", "0.2", "--", sys.executable, "-c", SHOW, ULLAGE_LIMIT_BYTES="7")
        self.assertEqual(0, code)
        self.assertIn("no limit was granted", err)
        self.assertNotIn("ULLAGE_LIMIT_BYTES", json.loads(out), "a limit of somebody else")

    def test_job_and_device_from_the_command_line(self):
        self.finish("--job", "mine", "--device", "2", "--", "true")
        hello = self.worker.wait_for("hello")
        self.assertEqual(("mine", "2"), (hello["job"], hello["device"]))

    def test_help_and_env(self):
        for arguments in (["--help"], ["exec", "--help"], ["env", "--help"]):
            result = subprocess.run([sys.executable, "-m", "ullage", *arguments], cwd=ROOT, capture_output=True,
                                    text=True, timeout=20, check=True)
            self.assertIn("usage:", result.stdout)
        env = dict(os.environ, RANK="1", WORLD_SIZE="1")
        result = subprocess.run([sys.executable, "-m", "ullage", "env", "--json"], cwd=ROOT, capture_output=True,
                                text=True, timeout=20, check=False, env=env)
        self.assertEqual((1, ["RANK=1: must be below WORLD_SIZE=1"]),
                         (result.returncode, json.loads(result.stdout)["errors"]))


class Settings(unittest.TestCase):
    DEVICE = Device("GPU-1", 0, "H100", "discrete", 80 * GIB, "host-a")

    def test_fractions_round_down_and_never_pass_the_limit(self):
        self.assertEqual(("0.333333", "1.000000", "0.000000", "1.000000"),
                         (fraction_text(1, 3), fraction_text(5, 5), fraction_text(0, 5), fraction_text(9, 5)))
        for limit in range(0, 80 * GIB, 987_654_321):
            self.assertLessEqual(int(fraction_text(limit, 80 * GIB).replace(".", "")) * 80 * GIB, limit * 10 ** 6)

    def test_an_older_torch_never_gets_the_key_it_aborts_on(self):
        for version in (None, "1.13.1", "2.9.1+cu128", "2.1.0", "nonsense"):
            self.assertNotIn("PYTORCH_ALLOC_CONF", framework_settings(8 * GIB, self.DEVICE, {}, version))
        for version in ("2.10.0", "2.10.0+cu130", "3.0"):
            self.assertEqual("per_process_memory_fraction:0.093750",
                             framework_settings(8 * GIB, self.DEVICE, {}, version)["PYTORCH_ALLOC_CONF"])

    def test_what_the_user_set_stays(self):
        def given(**env):
            return framework_settings(8 * GIB, self.DEVICE, env, "2.10.0")

        self.assertEqual("expandable_segments:True,per_process_memory_fraction:0.093750",
                         given(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")["PYTORCH_ALLOC_CONF"])
        self.assertNotIn("PYTORCH_ALLOC_CONF", given(PYTORCH_ALLOC_CONF="per_process_memory_fraction:0.5"))
        self.assertNotIn("XLA_CLIENT_MEM_FRACTION", given(XLA_PYTHON_CLIENT_MEM_FRACTION=".5"))

    def test_nothing_without_a_known_total_on_a_simulated_device_or_for_a_limit_of_0(self):
        for device, limit in ((None, GIB), (replace(self.DEVICE, kind="simulated"), GIB),
                              (replace(self.DEVICE, total_bytes=None), GIB), (self.DEVICE, 0)):
            self.assertEqual({}, framework_settings(limit, device, {}, "2.10.0"))

    def test_the_version_counts_only_for_this_interpreter(self):
        with mock.patch("importlib.metadata.version", return_value="2.10.0"):
            self.assertEqual("2.10.0", torch_version_for([sys.executable, "train.py"]))
            self.assertEqual("2.10.0", torch_version_for([sys.executable, "-m", "train"]))
            self.assertIsNone(torch_version_for([sys.executable, "-X", "importtime", "train.py"]))
            self.assertIsNone(torch_version_for(["sh", "train.sh"]))
            self.assertIsNone(torch_version_for(["no-such-command"]))

    def test_another_interpreter_is_asked_with_the_options_that_change_what_it_finds(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "python3.99"
            other.write_text('#!/bin/sh\ncase "$1" in -I) exit 1;; -s) echo 2.9.0;; *) echo 2.11.0+cu130;; esac\n',
                             encoding="utf-8")
            script = Path(folder) / "train"
            script.write_text(f"#!/usr/bin/env {other} -u\nimport torch\n", encoding="utf-8")
            for file in (other, script):
                file.chmod(0o755)
            commands = (
                [str(other), "train.py"], [str(other), "-u", "-s", "train.py"], [str(other), "-I", "train.py"],
                [str(other), "-W", "error", "train.py"], [str(script), "--epochs", "3"])
            self.assertEqual(["2.11.0+cu130", "2.9.0", None, None, "2.11.0+cu130"],
                             [torch_version_for(command) for command in commands])

    def test_what_holds_the_process_is_said_with_what_holds_it(self):
        settings = framework_settings(8 * GIB, self.DEVICE, {}, "2.10.0")
        self.assertEqual(str(8 * GIB), settings["ULLAGE_HELD_BYTES"])
        for given in ({"PYTORCH_ALLOC_CONF": "per_process_memory_fraction:0.5"}, {}):
            version = "2.10.0" if given else "2.9.0"
            self.assertNotIn("ULLAGE_HELD_BYTES", framework_settings(8 * GIB, self.DEVICE, given, version))
        with self.assertLogs("ullage", "WARNING"):
            self.assertNotIn("PYTORCH_ALLOC_CONF", framework_settings(512 << 20, self.DEVICE, {}, "2.10.0"))


if __name__ == "__main__":
    unittest.main()
