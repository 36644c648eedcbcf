#!/usr/bin/env bash
# The tests of the rank client with the real TensorFlow, Keras and JAX on the CPU. They are installed, as pinned in
# frameworks-requirements.txt, into target/frameworks-venv, which is kept until the pins change. FRAMEWORKS_PYTHON names
# the Python to make it with, else the system's.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"
. "$ROOT/dev/checks/frameworks-lib.sh"

begin frameworks "the rank client with TensorFlow, Keras and JAX"
ensure_distribution
forget_results
run_tests run_framework_tests
