#!/usr/bin/env bash
# The jars of this checkout are equal, byte for byte, to those built from a copy of its sources elsewhere.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
. "$ROOT/dev/checks/lib.sh"

begin repro "two builds of the same sources give equal jars"
ensure_distribution
copy="$ROOT/target/repro"
rm -rf "$copy"
mkdir -p "$copy"
# Sources only. Not by git: the checkout may be an archive, or belong to another user.
tar -C "$ROOT" --exclude=target --exclude=.git --exclude=__pycache__ -c -f - . | tar -x -C "$copy" -f -
# Without Error Prone, which has looked at these sources: most of a compilation is its, and nothing of a class file.
without_error_prone=-Dullage.compiler.plugin=-Xlint:-processing
(cd "$copy" && exec mvn -B -ntp -q -DskipTests -Dullage.skipTestCompile=true "$without_error_prone" package </dev/null)

different=0
compared=0
for jar in "$copy"/*/target/ullage-*.jar; do
    case $jar in *-tests.jar) continue ;; esac
    path=${jar#"$copy"/}
    compared=$((compared + 1))
    if cmp -s "$jar" "$ROOT/$path"; then
        echo "equal      $path"
    else
        echo "DIFFERENT  $path"
        different=$((different + 1))
    fi
done
[ "$compared" -gt 0 ] || fail "the build made no jars"
[ "$different" -eq 0 ] ||
    fail "$different of $compared jars differ. Stale classes in target/ can cause this: try again after mvn clean."
rm -rf "$copy"
