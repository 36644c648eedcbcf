#!/usr/bin/env bash
# What an estimate for 1,024 ranks costs, by JMH. Arguments go to JMH.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/ledger.sh" EstimateBench "$@"
