# The environment with real frameworks and the tests that run in it; sourced after lib.sh, never run.

FRAMEWORKS_VENV="$ROOT/target/frameworks-venv"
FRAMEWORKS_PINS="$ROOT/dev/checks/frameworks-requirements.txt"
FRAMEWORKS_LOG="$ROOT/target/frameworks-venv.log"
FRAMEWORKS_RESULTS="$ROOT/target/python-frameworks-tests.json"

# What pip says when it reached no package index, whatever the reason.
NO_INDEX='NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError'
NO_INDEX="$NO_INDEX|Network is unreachable"

# Runs the tests, or records why they are skipped.
run_framework_tests() {
    local python=${FRAMEWORKS_PYTHON:-/usr/bin/python3} reason
    [ -x "$(command -v "$python")" ] || python=python3
    if reason=$(framework_obstacle "$python"); then
        echo "skipped: $reason"
        printf '{"run": 1, "failed": [], "skipped": [{"test": "tests.frameworks", "reason": "%s"}]}\n' "$reason" \
            >"$FRAMEWORKS_RESULTS"
        return 0
    fi
    [ -f "$FRAMEWORKS_VENV/complete" ] || return 1
    (cd "$ROOT" && exec "$FRAMEWORKS_VENV/bin/python" dev/checks/run_python_tests.py "$FRAMEWORKS_RESULTS" \
        tests/frameworks 'check_*.py' 9>&-)
}

# Prints why there can be no such environment here and returns 0; returns 1 when there is one now, or when making it
# failed for a reason that is a fault (the end of pip's log goes to standard error).
framework_obstacle() {
    local python=$1
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "machine: the pinned frameworks need Python 3.11 or later, $python is older"
        return 0
    fi
    if cmp -s "$FRAMEWORKS_PINS" "$FRAMEWORKS_VENV/complete" &&
        "$FRAMEWORKS_VENV/bin/python" -c '' 2>/dev/null; then
        return 1
    fi
    echo "installing TensorFlow, Keras and JAX (about 300 MB to fetch, 2 GB in target/frameworks-venv, once) ..." >&2
    rm -rf "$FRAMEWORKS_VENV"
    mkdir -p "$ROOT/target"
    if ! "$python" -m venv "$FRAMEWORKS_VENV" >"$FRAMEWORKS_LOG" 2>&1; then
        rm -rf "$FRAMEWORKS_VENV"
        echo "$python cannot make virtual environments (Debian: python3-venv)"
        return 0
    fi
    # All pins are in the file, so nothing is to be worked out; what is imported is compiled then.
    if "$FRAMEWORKS_VENV/bin/python" -m pip install --disable-pip-version-check --no-input --retries 1 --timeout 20 \
        --only-binary :all: --no-deps --no-compile --progress-bar off -r "$FRAMEWORKS_PINS" \
        >>"$FRAMEWORKS_LOG" 2>&1; then
        cp "$FRAMEWORKS_PINS" "$FRAMEWORKS_VENV/complete"
        return 1
    fi
    if grep -Eq "$NO_INDEX" "$FRAMEWORKS_LOG"; then
        echo "machine: no package index was reached to install TensorFlow and JAX from"
        return 0
    fi
    if grep -q 'not a supported wheel\|No matching distribution' "$FRAMEWORKS_LOG"; then
        echo "machine: no pinned TensorFlow or JAX for $(uname -m) and $("$python" --version)"
        return 0
    fi
    echo "pip failed; the end of $FRAMEWORKS_LOG:" >&2
    tail -n 20 "$FRAMEWORKS_LOG" >&2
    return 1
}
