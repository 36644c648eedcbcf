#!/bin/sh
# What one round of readings costs, against starting a child process in the place of nvidia-smi. Prints a table.
set -eu
cd "$(dirname "$0")/.."

mvn -B -ntp -q -pl worker -am test-compile dependency:build-classpath \
    -Dmdep.outputFile=target/test.classpath -Dmdep.includeScope=test
cd worker
exec java -cp "target/test-classes:target/classes:$(cat target/test.classpath)" dev.ullage.worker.probe.ProbeBenchMain
