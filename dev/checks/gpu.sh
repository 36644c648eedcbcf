#!/usr/bin/env bash
# What must hold on a machine with an NVIDIA GPU: gpu.sh [FOLDER] runs it here and leaves FOLDER, and FOLDER.tar.gz to
# attach to a report. gpu.sh --pack PACK [--with-java] only makes PACK, and PACK.tar.gz, for a machine without Maven,
# network or (with --with-java) Java: take it there and start PACK/gpu-run.sh [FOLDER], which says what it does.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

# What "devices", "doctor" and the checks never load: libraries of the cluster and of its pages.
LEFT_OUT='pekko|scala|netty|aeron|agrona|lz4|parboiled|ssl-config|jnr-|jffi|lmdb|asm|prometheus|uplot|slf4j-simple|onnx'
OF_TESTS='assertj-core|opentest4j'

pack() {
    local into=$1 jar
    [ ! -e "$into" ] || [ -f "$into/gpu-run.sh" ] || fail "'$into' is there and no such pack; name another folder"
    ensure_distribution
    lock_build
    maven -q -pl worker -am -DskipTests test-compile dependency:build-classpath \
        -Dmdep.includeScope=test -Dmdep.outputFile=target/test.classpath >&2
    rm -rf "$into"
    mkdir -p "$into/lib" "$into/classes"
    for jar in "$DIST"/lib/*.jar; do
        [[ $(basename "$jar") =~ $LEFT_OUT ]] || cp "$jar" "$into/lib/"
    done
    tr ':' '\n' <"$ROOT/worker/target/test.classpath" | grep -E "/($OF_TESTS)[^/]*\.jar$" | while read -r jar; do
        cp "$jar" "$into/lib/"
    done
    cp -R "$ROOT/worker/target/test-classes/dev" "$into/classes/"
    cp "$ROOT/dev/checks/gpu-run.sh" "$into/"
    git -C "$ROOT" rev-parse HEAD >"$into/revision.txt" 2>/dev/null || echo "not a checkout" >"$into/revision.txt"
    unlock_build
}

add_java() {
    local home
    local modules="java.base,java.xml,java.logging,java.naming,java.management,java.net.http,java.sql"
    home=$(dirname "$(dirname "$(readlink -f "$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}jlink")")")")
    "$home/bin/jlink" --compress=2 --strip-debug --no-header-files --no-man-pages --output "$1/java" \
        --add-modules "$modules,java.instrument,jdk.management,jdk.unsupported,jdk.crypto.ec"
}

if [ "${1:-}" = --pack ]; then
    [ -n "${2:-}" ] || fail "gpu.sh --pack PACK: name the folder to make"
    pack "$2"
    [ "${3:-}" != --with-java ] || add_java "$2"
    tar -czf "$2.tar.gz" -C "$(dirname "$2")" "$(basename "$2")"
    du -sh "$2" "$2.tar.gz"
else
    pack "$ROOT/target/gpu-checks"
    exec "$ROOT/target/gpu-checks/gpu-run.sh" "$@"
fi
