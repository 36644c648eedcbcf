#!/usr/bin/env bash
# What the parts of a coordinator's tick cost, by a stopwatch: 100, 1,000 and 4,000 devices with one rank each and with
# eight.
# Arguments: rounds to warm up (200), rounds to measure (100), sizes (1000x1 ...).
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$ROOT"
mvn -B -ntp -q -pl bench -am -DskipTests -Dspotless.check.skip package dependency:build-classpath \
    -Dmdep.includeScope=runtime -Dmdep.outputFile=target/bench.classpath >&2
exec java -Xmx3g -cp "bench/target/classes:$(cat bench/target/bench.classpath)" dev.ullage.bench.TickBenchMain "$@"
