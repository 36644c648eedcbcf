#!/usr/bin/env bash
# gpu-run.sh [FOLDER]: the checks that need an NVIDIA GPU, in under six minutes. Needs what gpu.sh --pack puts beside
# it, Java 17 or newer, and nothing else. Prints a table of pass, FAIL and skip with what was found, leaves all outputs
# and a recording of NVML in FOLDER (gpu-check), and packs them as FOLDER.tar.gz. Exit status 1 when a check fails; on a
# machine without a GPU all are skipped, with the reason. GPU_CHECK_NVML names another NVML library than the system's,
# GPU_CHECK_CLASSPATH other classes than those beside this script.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
out=${1:-gpu-check}
nvml=${GPU_CHECK_NVML:-libnvidia-ml.so.1}
all_seconds=340
java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
[ ! -x "$here/java/bin/java" ] || java="$here/java/bin/java"
class_path=${GPU_CHECK_CLASSPATH:-$here/classes:$here/lib/*}

if ! command -v "$java" >/dev/null 2>&1; then
    echo "gpu-run: no Java found ($java); Java 17 or newer is needed, or a pack made with --with-java" >&2
    exit 2
fi
if [ -e "$out" ]; then
    echo "gpu-run: '$out' is there already; name another folder" >&2
    exit 2
fi
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd -P)
table="$out/summary.tsv"
: >"$table"
[ ! -f "$here/revision.txt" ] || cp "$here/revision.txt" "$out/"
printf 'ullage.worker.devices.nvml-library = "%s"\n' "$nvml" >"$out/nvml.conf"
settings=()
[ -z "${GPU_CHECK_NVML:-}" ] || settings=(--config "$out/nvml.conf")

row() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$table"
}

# within SECONDS FILE COMMAND...: its output into FILE (standard error into FILE.err), for as long as there is time.
within() {
    local limit=$1 file=$2 left=$((all_seconds - SECONDS))
    shift 2
    [ "$left" -gt 5 ] || return 124
    [ "$limit" -lt "$left" ] || limit=$left
    timeout -k 5 "$limit" "$@" >"$out/$file" 2>"$out/$file.err" </dev/null
}

ullage() {
    local seconds=$1 file=$2
    shift 2
    within "$seconds" "$file" "$java" -Xmx256m -XX:TieredStopAtLevel=1 -cp "$class_path" \
        dev.ullage.cli.UllageMain "$@" ${settings[@]+"${settings[@]}"}
}

# A table without the line that says where it is from.
figures() {
    sed -n '/INDEX/,$p' "$out/$1"
}

devices_in() {
    printf '%s devices' "$(grep -o '"uuid":"' "$out/$1" | wc -l | tr -d ' ')"
}

# judge NAME STATUS FIGURE FILE: 0 passes, 3 (no devices) is skipped, 124 ran out of time, all else fails.
judge() {
    case $2 in
        0) row pass "$1" "$3" ;;
        3) row skip "$1" "$(head -c 300 "$out/$4.err" | tr '\n\t' '  ')" ;;
        124 | 137) row FAIL "$1" "no answer in time; see $4" ;;
        *) row FAIL "$1" "ended with $2: $(tail -n 1 "$out/$4.err" | head -c 200 | tr '\t' ' ')" ;;
    esac
}

# The tests tagged gpu.
within 150 checks.tsv "$java" -Xmx256m -cp "$class_path" dev.ullage.worker.probe.GpuChecksMain "$nvml" nvidia-smi
status=$?
grep -E $'^(pass|FAIL|skip)\t' "$out/checks.tsv" >>"$table"
[ "$status" -le 1 ] || judge "the checks of figures" "$status" "" checks.tsv

ullage 60 devices.json devices --json
judge "ullage devices" $? "$(devices_in devices.json)" devices.json
ullage 60 recorded.txt devices --record "$out/nvml.json"
judge "ullage devices --record" $? "$(grep -c '"fn"' "$out/nvml.json" 2>/dev/null) calls" recorded.txt
if [ -s "$out/nvml.json" ] && grep -q INDEX "$out/recorded.txt"; then
    ullage 60 replayed.txt devices --from "$out/nvml.json"
    status=$?
    if [ "$status" -eq 0 ] && ! diff <(figures recorded.txt) <(figures replayed.txt) >"$out/replayed.diff"; then
        row FAIL "the recording shows the same" "see replayed.diff"
    else
        judge "the recording shows the same" "$status" "to the byte" replayed.txt
    fi
fi
ullage 100 contexts.txt devices --measure-context
status=$?
measured=$(grep -c 'a CUDA context costs [0-9]' "$out/contexts.txt")
judge "ullage devices --measure-context" "$status" "$measured measured" contexts.txt
ullage 90 doctor.txt doctor
status=$?
words="$(grep -c '^pass' "$out/doctor.txt") pass, $(grep -c '^warn' "$out/doctor.txt") warn"
case $status in
    0 | 1) row pass "ullage doctor" "$words" ;;
    2) if grep -q '^skip.all checks' "$table"; then
        row skip "ullage doctor" "$(grep -m 1 '^fail' "$out/doctor.txt")"
    else
        row FAIL "ullage doctor" "$(grep '^fail' "$out/doctor.txt" | tr '\n\t' '; ')"
    fi ;;
    *) judge "ullage doctor" "$status" "" doctor.txt ;;
esac

# What the tool itself says, beside the recording and in its own words, and whether that is read.
if command -v nvidia-smi >/dev/null 2>&1; then
    mkdir -p "$out/tool"
    within 30 tool/nvidia-smi-q-x.xml nvidia-smi -q -x
    within 30 tool/nvidia-smi-L.txt nvidia-smi -L
    within 30 tool/query-gpu.csv nvidia-smi --format=csv \
        --query-gpu=index,name,uuid,pci.bus_id,memory.total,memory.reserved,memory.used,memory.free,mig.mode.current
    within 30 tool/compute-apps.csv nvidia-smi --query-compute-apps=gpu_uuid,pid,used_gpu_memory --format=csv
    within 30 tool/table.txt nvidia-smi
    find "$out/tool" -name '*.err' -empty -delete
    ullage 60 tool.json devices --json --from "$out/tool"
    judge "what nvidia-smi prints is read" $? "$(devices_in tool.json)" tool.json
else
    row skip "what nvidia-smi prints is read" "nvidia-smi is not on the PATH"
fi

find "$out" -name '*.err' -empty -delete
echo
awk -F '\t' '{ printf "%-4s  %-58s  %s\n", $1, $2, $3 }' "$table" | tee "$out/summary.txt"
fails=$(grep -c '^FAIL' "$table")
printf '\n%s pass, %s FAIL, %s skip in %s s\n' \
    "$(grep -c '^pass' "$table")" "$fails" "$(grep -c '^skip' "$table")" "$SECONDS" | tee -a "$out/summary.txt"
tar -czf "$out.tar.gz" -C "$(dirname "$out")" "$(basename "$out")" && echo "to attach: $out.tar.gz"
[ "$fails" -eq 0 ]
