#!/usr/bin/env bash
# What an estimate for 1,024 ranks costs, by JMH, and how long the whole comparison with measurements takes, by the
# clock. Arguments go to JMH.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
"$ROOT/bench/ledger.sh" EstimateBench "$@"

DATA=$ROOT/cli/src/test/resources/estimate
measurements=("$DATA/planner_golden.csv" "$DATA/megatron_golden_memory.csv.gz" "$DATA/per-rank-phase"
    "$DATA/peft_method_comparison_memory.csv" "$DATA/ranks.txt")
arguments=()
for file in "${measurements[@]}"; do
    arguments+=(--accuracy "$file")
done
"$ROOT/ullage" --version >/dev/null # builds it when that is due, which is no part of the time
begun=$(date +%s%N)
"$ROOT/ullage" estimate "${arguments[@]}" >/dev/null
millis=$((($(date +%s%N) - begun) / 1000000))
printf 'ullage estimate --accuracy, all files: %d ms, the start of the JVM included\n' "$millis"
