# Shared by ./ullage and the scripts in this folder; sourced, never run. Bash 3.2 or newer.
# Expects ROOT: the repository's root.

DIST="$ROOT/cli/target/dist"
STAMP="$ROOT/target/dist.stamp"
BUILD_LOG="$ROOT/target/build.log"
SKIP_FILE="$ROOT/target/skipped.txt"
LOCK="$ROOT/target/build.lock"

fail() {
    printf 'ullage: %s\n' "$*" >&2
    exit 1
}

CHECK_NAME=""
LOCK_FOLDER=""
STARTED_NODE=""
STARTED_BESIDE=""

# begin NAME DESCRIPTION: says what a check does and, when the script ends, how it went and how long it took.
begin() {
    CHECK_NAME=$1
    CHECK_STARTED=$SECONDS
    printf '== %s: %s\n' "$1" "$2"
}

at_exit() {
    local status=$? verdict=ok
    [ -z "$STARTED_NODE" ] || kill -KILL "$STARTED_NODE" 2>/dev/null || true
    [ -z "$STARTED_BESIDE" ] || kill -TERM -- "-$STARTED_BESIDE" 2>/dev/null || true
    [ -z "$LOCK_FOLDER" ] || rmdir "$LOCK_FOLDER" 2>/dev/null || true
    if [ -n "$CHECK_NAME" ]; then
        [ "$status" -eq 0 ] || verdict="FAILED ($status)"
        printf '== %s: %s in %s s\n' "$CHECK_NAME" "$verdict" "$((SECONDS - CHECK_STARTED))"
    fi
}
trap at_exit EXIT

# start_beside COMMAND: runs it while the script goes on, in a process group of its own, which ends with the script,
# however that ends. One at a time; await_beside waits for it, shows what it printed, and has its exit status.
start_beside() {
    mkdir -p "$ROOT/target"
    set -m
    "$@" >"$ROOT/target/beside.log" 2>&1 </dev/null &
    STARTED_BESIDE=$!
    set +m
}

await_beside() {
    local status=0
    wait "$STARTED_BESIDE" || status=$?
    STARTED_BESIDE=""
    cat "$ROOT/target/beside.log"
    return "$status"
}

# Maven in the repository's root. It must not inherit the lock: a process it leaves behind would keep it.
maven() {
    (cd "$ROOT" && exec mvn -B -ntp "$@" </dev/null 9>&-)
}

# A JDK of 17 or newer and Maven, or a message that says what is missing and how to get it.
require_build_tools() {
    local java=java javac=javac version
    local need="Ullage needs a JDK 17 or newer (Debian: openjdk-17-jdk-headless) on the PATH or in JAVA_HOME."
    if [ -n "${JAVA_HOME:-}" ]; then
        java="$JAVA_HOME/bin/java"
        javac="$JAVA_HOME/bin/javac"
    fi
    command -v "$java" >/dev/null 2>&1 ||
        fail "no Java found ($java). $need"
    version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    [ "${version:-0}" -ge 17 ] ||
        fail "$(command -v "$java") is Java ${version:-of an unknown version}. $need"
    command -v "$javac" >/dev/null 2>&1 ||
        fail "no compiler ($javac): $(command -v "$java") is a runtime only. $need"
    command -v mvn >/dev/null 2>&1 ||
        fail "no Maven found (mvn). Ullage needs Maven 3.8.7 or newer to build (Debian: maven)."
}

# Whether the distribution exists and nothing it is made of changed since its build began.
distribution_is_current() {
    [ -x "$DIST/bin/ullage" ] && [ -f "$STAMP" ] || return 1
    local changed
    changed=$(
        find "$ROOT/pom.xml" "$ROOT/.mvn" "$ROOT"/*/pom.xml "$ROOT"/*/src/main "$ROOT/config/examples" \
            -newer "$STAMP" 2>/dev/null | head -n 1
        find "$ROOT/python" "$ROOT/README.md" "$ROOT/LICENSE" -type f -not -name '*.pyc' -not -path '*/tests/*' \
            -newer "$STAMP" 2>/dev/null | head -n 1
    )
    [ -z "$changed" ]
}

# Held while anything writes into the target folders. A process started by the holder does not wait for it.
lock_build() {
    [ -z "${ULLAGE_BUILD_LOCKED:-}" ] || return 0
    mkdir -p "$ROOT/target"
    if command -v flock >/dev/null 2>&1; then
        exec 9>"$LOCK"
        if ! flock -n 9; then
            echo "Waiting for another build of this checkout to end ..." >&2
            flock 9
        fi
    else
        local waited=0
        until mkdir "$LOCK.d" 2>/dev/null; do
            [ "$waited" -gt 0 ] || echo "Waiting for another build of this checkout to end (lock: $LOCK.d) ..." >&2
            waited=1
            sleep 1
        done
        LOCK_FOLDER="$LOCK.d"
    fi
    export ULLAGE_BUILD_LOCKED=1
}

unlock_build() {
    if command -v flock >/dev/null 2>&1; then
        exec 9>&-
    else
        rmdir "$LOCK_FOLDER" 2>/dev/null || true
        LOCK_FOLDER=""
    fi
    unset ULLAGE_BUILD_LOCKED
}

# A source changed while the build runs is newer than the stamp, so the next start builds again.
stamp_begin() {
    mkdir -p "$ROOT/target"
    touch "$STAMP.next"
}

stamp_end() {
    mv -f "$STAMP.next" "$STAMP"
}

# Maven's log on standard input, a line per module and per hundred downloads on standard output.
show_progress() {
    awk '
        /^\[INFO\] Building .* \[[0-9]+\/[0-9]+\]/ {
            part = $NF
            sub(/^\[INFO\] Building /, "")
            sub(/ [0-9][^ ]* +\[.*$/, "")
            print "  " part " " $0
            fflush()
        }
        /^Downloaded from / || /^\[INFO\] Downloaded from / {
            if (++downloads % 100 == 0) { print "  " downloads " files downloaded"; fflush() }
        }'
}

ensure_distribution() {
    if [ -n "${ULLAGE_BUILD_LOCKED:-}" ] || distribution_is_current; then
        return
    fi
    require_build_tools
    lock_build
    if ! distribution_is_current; then
        build_distribution
    fi
    unlock_build
}

build_distribution() {
    local why="first use; about 1-2 minutes"
    [ ! -d "$DIST" ] || why="its sources have changed"
    echo "Building Ullage ($why) ..." >&2
    local started=$SECONDS
    stamp_begin
    local build="-B -pl cli -am -DskipTests -Dullage.skipTestCompile=true package"
    # shellcheck disable=SC2086
    if ! (cd "$ROOT" && exec mvn $build </dev/null 2>&1 9>&-) |
        tee "$BUILD_LOG" | show_progress >&2; then
        echo "The build failed. Its first errors (all of it: $BUILD_LOG):" >&2
        grep -m 30 -E '^\[ERROR\]|^Error' "$BUILD_LOG" >&2 || tail -n 30 "$BUILD_LOG" >&2
        exit 1
    fi
    stamp_end
    share_class_data
    echo "Built in $((SECONDS - started)) s." >&2
}

# Leaves archives of the classes that a start loads beside the jars, for bin/ullage. Best effort: without them all is
# well, only slower.
share_class_data() {
    echo "  keeping the classes of a start, for quicker ones" >&2
    archive_classes ullage.jsa ' is ready' up --port 0
    # Without a coordinator it is as ready as it gets when it is a member of a cluster.
    archive_classes ullage-worker.jsa 'member of a cluster' worker --cluster-port 0
}

# archive_classes FILE TEXT COMMAND...: of a start with simulated devices that goes on until it has printed TEXT.
archive_classes() {
    local archive="$DIST/lib/$1" text=$2 folder="$ROOT/target/class-data" waited=0
    shift 2
    rm -rf "$folder" "$archive"
    mkdir -p "$folder"
    ULLAGE_JAVA_OPTS="-XX:ArchiveClassesAtExit=$archive -Xlog:cds=off -Xlog:cds+dynamic=off" \
        "$DIST/bin/ullage" "$@" --simulate 1xH100-80G --state "$folder" >"$folder/log" 2>&1 9>&- </dev/null &
    STARTED_NODE=$!
    until grep -qs "$text" "$folder/log" || [ "$waited" -ge 120 ] || ! kill -0 "$STARTED_NODE" 2>/dev/null; do
        sleep 0.25
        waited=$((waited + 1))
    done
    kill -TERM "$STARTED_NODE" 2>/dev/null || true
    while kill -0 "$STARTED_NODE" 2>/dev/null && [ "$waited" -lt 240 ]; do
        sleep 0.25
        waited=$((waited + 1))
    done
    kill -KILL "$STARTED_NODE" 2>/dev/null || true
    wait "$STARTED_NODE" 2>/dev/null || true
    STARTED_NODE=""
}

# The results of earlier runs, so that a summary counts this run only.
forget_results() {
    rm -rf "$ROOT"/*/target/surefire-reports "$ROOT"/*/target/failsafe-reports
    rm -f "$SKIP_FILE" "$ROOT/target/python-tests.json" "$ROOT/target/python-frameworks-tests.json"
}

# PYTHON if set; else the python3 on the PATH, or the system's where only that one has torch.
find_python() {
    local has_torch="import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)" candidate
    for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
        if "$candidate" -c "$has_torch" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "${PYTHON:-python3}"
}

run_python_tests() {
    local python
    python=$(find_python)
    command -v "$python" >/dev/null 2>&1 ||
        fail "no Python found ($python). The rank client's tests need Python 3.9 or newer."
    if [ ! -d "$ROOT/python/tests" ]; then
        echo "no python/tests in this checkout"
        return 0
    fi
    mkdir -p "$ROOT/target"
    echo "with $python ($("$python" --version 2>&1))"
    (cd "$ROOT" && exec "$python" dev/checks/run_python_tests.py target/python-tests.json 9>&-)
}

# run_tests COMMAND...: the command, then the count of its tests; fails when either does.
run_tests() {
    local status=0
    "$@" || status=$?
    summarize || status=1
    return "$status"
}

# The skipped tests with their reasons, the failed ones, and the line of counts.
summarize() {
    "${PYTHON:-python3}" "$ROOT/dev/checks/summarize.py" "$ROOT"
}
