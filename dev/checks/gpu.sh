#!/usr/bin/env bash
# What must hold on a machine with an NVIDIA GPU: gpu.sh [FOLDER] runs it here and leaves FOLDER, and FOLDER.tar.gz to
# attach to a report. gpu.sh --pack PACK [--with-java] only makes PACK, and PACK.tar.gz, for a machine without Maven,
# network or (with --with-java) Java: take it there and start PACK/gpu-run.sh [FOLDER], which says what it does.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

# What "devices", "doctor" and the checks never load: libraries of the cluster and of its pages.
LEFT_OUT='pekko|scala|netty|aeron|agrona|lz4|parboiled|ssl-config|jnr-|jffi|lmdb|asm|prometheus|uplot|slf4j-simple|onnx'
LEFT_OUT="$LEFT_OUT|asn-one|paranamer|reactive-streams|-tests|archunit|byte-buddy|jqwik|junit|selenium|guava"
LEFT_OUT="$LEFT_OUT|opentelemetry|json-schema|zstd|commons-compress"
# What a machine with a GPU takes without being asked twice.
MOST_MIB=60

# The libraries of tests that the checks use, as Maven keeps them.
test_libraries() {
    local repository=${MAVEN_REPOSITORY:-$HOME/.m2/repository} assertj jar
    assertj=$(sed -n 's:.*<version.assertj>\(.*\)</version.assertj>.*:\1:p' "$ROOT/pom.xml")
    for jar in "$repository/org/assertj/assertj-core/$assertj/assertj-core-$assertj.jar" \
        "$repository"/org/opentest4j/opentest4j/*/opentest4j-*.jar; do
        [ -f "$jar" ] || fail "no $jar; name Maven's repository in MAVEN_REPOSITORY"
        printf ':%s' "$jar"
    done
}

# Without the natives of other systems, and without those of CUDA that nothing here calls.
trim_natives() {
    local jar name="$JAVA_BIN/jar"
    for jar in "$1"/jcuda-natives-*.jar "$1"/jna-[0-9]*.jar; do
        rm -rf "$1/trimmed"
        mkdir "$1/trimmed"
        (cd "$1/trimmed" && "$name" xf "$jar")
        find "$1/trimmed/lib" -type f ! -name '*JCudaDriver*' -delete 2>/dev/null || true
        find "$1/trimmed/com/sun/jna" -mindepth 1 -maxdepth 1 -type d -name '*-*' ! -name linux-x86-64 \
            -exec rm -r {} + 2>/dev/null || true
        "$name" cfM "$jar" -C "$1/trimmed" .
        rm -r "$1/trimmed"
    done
}

# pack PACK CLASSPATH: what of these jars and folders is needed. A test's data stays here.
pack() {
    local into=$1 part
    [ ! -e "$into" ] || [ -f "$into/gpu-run.sh" ] || fail "'$into' is there and no such pack; name another folder"
    rm -rf "$into"
    mkdir -p "$into/lib" "$into/classes"
    into=$(cd "$into" && pwd -P)
    tr ':' '\n' <<<"$2" | while read -r part; do
        if [ -d "$part" ]; then
            (cd "$part" && find . -type f \( -path './dev/*' -o -path './*.conf' -o -path ./logback.xml \) -print0 |
                tar -cf - --null -T -) | tar -xf - -C "$into/classes"
        elif [ -f "$part" ] && ! [[ $(basename "$part") =~ $LEFT_OUT ]]; then
            cp "$part" "$into/lib/"
        fi
    done
    trim_natives "$into/lib"
    cp "$ROOT/dev/checks/gpu-run.sh" "$into/"
    git -C "$ROOT" rev-parse HEAD >"$into/revision.txt" 2>/dev/null || echo "not a checkout" >"$into/revision.txt"
}

# The distribution and the worker's tests, or, for a test of this script, the class path that is named.
class_path() {
    if [ -n "${GPU_PACK_CLASSPATH:-}" ]; then
        printf '%s' "$GPU_PACK_CLASSPATH"
        return
    fi
    ensure_distribution
    lock_build
    maven -q -pl worker -am -DskipTests test-compile >&2
    unlock_build
    printf '%s:' "$DIST"/lib/*.jar
    printf '%s' "$ROOT/worker/target/test-classes"
    test_libraries
}

add_java() {
    local modules="java.base,java.xml,java.logging,java.naming,java.management,java.net.http,java.sql"
    "$JAVA_BIN/jlink" --compress=2 --strip-debug --no-header-files --no-man-pages --output "$1/java" \
        --add-modules "$modules,java.instrument,jdk.management,jdk.unsupported,jdk.crypto.ec"
}

weigh() {
    local mib
    mib=$(du -sm "$1" | cut -f 1)
    [ "$mib" -lt "$MOST_MIB" ] || fail "'$1' has $mib MiB, and must stay below $MOST_MIB"
    du -sh "$1" "$1.tar.gz"
}

jlink=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}jlink") || fail "no jlink: a JDK of 17 or newer is needed"
JAVA_BIN=$(dirname "$(readlink -f "$jlink")")
if [ "${1:-}" = --pack ]; then
    [ -n "${2:-}" ] || fail "gpu.sh --pack PACK: name the folder to make"
    parts=$(class_path)
    pack "$2" "$parts"
    [ "${3:-}" != --with-java ] || add_java "$2"
    tar -czf "$2.tar.gz" -C "$(dirname "$2")" "$(basename "$2")"
    weigh "$2"
else
    parts=$(class_path)
    pack "$ROOT/target/gpu-checks" "$parts"
    exec "$ROOT/target/gpu-checks/gpu-run.sh" "$@"
fi
