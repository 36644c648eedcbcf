"""Runs the rank client's tests as `python3 -m unittest discover -s python/tests -t python` does and writes what came
of them to the file named by the first argument, for summarize.py. Further arguments: the folder in python/ and the
names of the files in it, by default tests and test*.py."""

import json
import os
import sys
import unittest


def main(results_path, folder="tests", pattern="test*.py"):
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
    suite = unittest.defaultTestLoader.discover(os.path.join(top, folder), pattern, top_level_dir=top)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = [test.id() for test, _ in result.failures + result.errors]
    failed += [test.id() for test in result.unexpectedSuccesses]
    outcome = {
        "run": result.testsRun,
        "failed": failed,
        "skipped": [{"test": test.id(), "reason": reason} for test, reason in result.skipped],
    }
    with open(results_path, "w", encoding="utf-8") as results:
        json.dump(outcome, results, indent=1)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
