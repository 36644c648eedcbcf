#!/usr/bin/env bash
# Unit, actor, simulation, architecture and convention tests (*Test). Further arguments go to Maven: -pl worker -am.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

begin unit "unit, actor, simulation, architecture and convention tests"
require_build_tools
lock_build
forget_results
run_tests maven -Dmaven.test.failure.ignore=true -DskipITs verify "$@"
