#!/bin/sh
# What a coordinator of 1,000 devices pays for being watched: 50 readers of the stream and 20 scrapes a second.
set -eu
cd "$(dirname "$0")/.."

mvn -B -ntp -q -pl cli -am test-compile dependency:build-classpath \
    -Dmdep.outputFile=target/test.classpath -Dmdep.includeScope=test
cd cli
exec java -cp "target/test-classes:target/classes:$(cat target/test.classpath)" dev.ullage.cli.page.StreamBenchMain
