#!/usr/bin/env bash
# What the ledger costs, by JMH: decide and apply per command at 8, 64 and 512 ranks; append and fsync per record.
# Arguments go to JMH: a regular expression of benchmarks, -f, -i, -rf json, ...
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$ROOT"
mvn -B -ntp -q -pl bench -am -DskipTests -Dspotless.check.skip package dependency:build-classpath \
    -Dmdep.includeScope=runtime -Dmdep.outputFile=target/bench.classpath >&2
exec java -cp "bench/target/classes:$(cat bench/target/bench.classpath)" org.openjdk.jmh.Main "$@"
