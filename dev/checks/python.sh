#!/usr/bin/env bash
# The tests of the rank client, with the Python that PYTHON names, else with one that has torch if there is one.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

begin python "tests of the rank client"
forget_results
run_tests run_python_tests
