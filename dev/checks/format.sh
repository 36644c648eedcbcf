#!/usr/bin/env bash
# Every Java file is formatted as palantir-java-format would; `mvn spotless:apply` makes it so.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

begin format "Java files are formatted (repair: mvn spotless:apply)"
require_build_tools
maven -q spotless:check
