#!/usr/bin/env bash
# Tests with several actor systems or processes (*IT), on the distribution as shipped. Further arguments go to Maven.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

begin cluster "tests with several actor systems or processes"
require_build_tools
lock_build
forget_results
run_tests maven -Dmaven.test.failure.ignore=true -DskipUnitTests verify "$@"
