"""Counts the tests of the last run: reads the reports of surefire and failsafe, the results of run_python_tests.py and
the file of skipped tests, prints what was skipped and why and what failed, and closes with one line of counts.

Exit status 1 when a test failed, when none ran, or, with ULLAGE_CHECK_STRICT=1, when a test was skipped for anything
but the machine. A test says that its machine cannot run it with a reason that starts with "machine:" (no GPU, no
permission to make network namespaces); every other reason is one that installing a package would remove."""

import glob
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

MACHINE = "machine:"


def reason_of(skipped):
    """The reason of a skipped test; surefire writes it as an exception, with its type and its stack."""
    text = (skipped.get("message") or skipped.text or "").strip()
    first_line = text.splitlines()[0] if text else ""
    return re.sub(r"^(Assumption failed: |[\w.$]+(Exception|Error): )+", "", first_line) or "no reason given"


class Totals:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = {}  # test -> reason

    def read_junit(self, path):
        try:
            suite = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as problem:
            self.failed.append("%s: unreadable report: %s" % (path, problem))
            return
        for case in suite.iter("testcase"):
            name = "%s.%s" % (case.get("classname", "?").rsplit(".", 1)[-1], case.get("name") or "(class)")
            skipped = case.find("skipped")
            if skipped is not None:
                self.skipped[name] = reason_of(skipped)
            elif case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(name)
            else:
                self.passed += 1

    def read_python(self, path):
        with open(path, encoding="utf-8") as results:
            outcome = json.load(results)
        self.failed += outcome["failed"]
        for entry in outcome["skipped"]:
            self.skipped[entry["test"]] = entry["reason"]
        self.passed += max(0, outcome["run"] - len(outcome["failed"]) - len(outcome["skipped"]))


def recorded_reasons(path):
    """Reasons that dev.ullage.common.testing.Requires wrote: it sees those whose class was left out as a whole, too."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return sorted({line.strip() for line in lines if line.strip()})


def main(root):
    totals = Totals()
    for folder in ("surefire-reports", "failsafe-reports"):
        for path in sorted(glob.glob(os.path.join(root, "*", "target", folder, "TEST-*.xml"))):
            totals.read_junit(path)
    for name in ("python-tests.json", "python-frameworks-tests.json"):
        python_results = os.path.join(root, "target", name)
        if os.path.exists(python_results):
            totals.read_python(python_results)
    reasons = sorted(set(totals.skipped.values()) | set(recorded_reasons(os.path.join(root, "target", "skipped.txt"))))

    for test, reason in sorted(totals.skipped.items()):
        print("SKIPPED %s (%s)" % (test, reason))
    for reason in reasons:
        if reason not in totals.skipped.values():
            print("SKIPPED tests (%s)" % reason)
    for test in totals.failed:
        print("FAILED %s" % test)
    status = 1 if totals.failed else 0
    avoidable = [reason for reason in reasons if not reason.startswith(MACHINE)]
    if avoidable and os.environ.get("ULLAGE_CHECK_STRICT") == "1":
        print("FAILED: ULLAGE_CHECK_STRICT=1 allows no test to be skipped for a missing package")
        status = 1
    if totals.passed + len(totals.failed) == 0:
        print("FAILED: no test ran")
        status = 1
    print("%d passed, %d failed, %d skipped" % (totals.passed, len(totals.failed), len(totals.skipped)))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
