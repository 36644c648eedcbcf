#!/usr/bin/env bash
# Main and test code compile without a warning of javac, Error Prone or NullAway; the enforcer's rules hold.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

begin compile "no warning of javac, Error Prone or NullAway; dependencies converge"
require_build_tools
lock_build
maven -DskipTests package "$@"
