#!/usr/bin/env bash
# Every check: what `./ullage check` runs. Compiles once: format, compile, unit and cluster tests are one Maven run.
# Further arguments go to Maven. ULLAGE_CHECK_STRICT=1: a test skipped because a package is missing fails the run.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"
. "$ROOT/dev/checks/frameworks-lib.sh"

begin check "format, compile, unit, cluster, simulate, python, frameworks, repro"
require_build_tools
lock_build
forget_results

failed=""
echo "== format, compile, unit, cluster: one Maven run"
stamp_begin
# A failing test does not stop the run: the reports tell, and one failure hides no other.
if maven -Dmaven.test.failure.ignore=true spotless:check verify "$@"; then
    stamp_end
else
    failed="$failed maven"
fi
echo "== simulate: the protocol under seeds"
"$ROOT/dev/checks/simulate.sh" || failed="$failed simulate"
start_beside run_framework_tests
echo "== python: tests of the rank client"
run_python_tests || failed="$failed python"
echo "== frameworks: the rank client with TensorFlow, Keras and JAX, beside the former"
await_beside || failed="$failed frameworks"
if [ -z "$failed" ]; then
    "$ROOT/dev/checks/repro.sh" || failed="$failed repro"
else
    echo "== repro: left out, because of:$failed"
fi

[ -z "$failed" ] || echo "FAILED:$failed"
CHECK_NAME=""
status=0
summarize || status=$?
[ -z "$failed" ] || status=1
exit "$status"
