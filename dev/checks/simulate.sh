#!/usr/bin/env bash
# The deterministic simulation: simulate.sh [SEEDS] [FIRST] runs that many seeds (2000, from 1), prints one JSON line.
# simulate.sh --replay SEED [SCRIPT] shows one; simulate.sh --mutants SEEDS counts how often each mutant is noticed.
# simulate.sh --gangs SEEDS [FIRST] and --gang-mutants SEEDS do the same for jobs that get all of their room or none;
# simulate.sh --gangs 1 SEED --trace shows all that is sent, lost, heard and decided under one seed, and all that fails.
# Uses the compiled test classes; compiles only when they are older than the sources.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

CLASS_PATH_FILE="$ROOT/target/simulation.classpath"
MAIN=dev/ullage/cli/simulation/SimulationMain.class
MODULES="common config worker coordinator cli"

# Maven's own compilation, as in check.sh, is as good as this script's.
classes_are_current() {
    local compiled="$ROOT/cli/target/test-classes/$MAIN" module changed
    [ -f "$compiled" ] && [ -f "$CLASS_PATH_FILE" ] || return 1
    for module in $MODULES; do
        changed=$(find "$ROOT/$module/src" -name '*.java' -newer "$compiled" 2>/dev/null | head -n 1)
        [ -z "$changed" ] || return 1
    done
    changed=$(find "$ROOT/pom.xml" "$ROOT"/*/pom.xml -newer "$CLASS_PATH_FILE" | head -n 1)
    [ -z "$changed" ]
}

compile() {
    require_build_tools
    lock_build
    mkdir -p "$ROOT/target"
    maven -q -pl cli -am -DskipTests test-compile dependency:build-classpath \
        -Dmdep.includeScope=test -Dmdep.outputFile=target/test.classpath >&2
    touch "$ROOT/cli/target/test-classes/$MAIN"
    # Only the libraries: the modules' own classes stand first, as they were compiled.
    tr ':' '\n' <"$ROOT/cli/target/test.classpath" | grep -v "^$ROOT/" | paste -sd: - >"$CLASS_PATH_FILE"
    unlock_build
}

classes_are_current || compile
class_path=""
for module in $MODULES; do
    class_path="$class_path$ROOT/$module/target/classes:$ROOT/$module/target/test-classes:"
done
java=java
[ -z "${JAVA_HOME:-}" ] || java="$JAVA_HOME/bin/java"
exec "$java" -Xmx1g -XX:+UseParallelGC -cp "$class_path$(cat "$CLASS_PATH_FILE")" \
    dev.ullage.cli.simulation.SimulationMain "$@"
