#!/usr/bin/env bash
# What one placement costs, by JMH: each policy on the kinds of nodes of a public trace (1,213 nodes, 6,212 devices),
# nine tenths full, and on ten times as many.
# Arguments go to JMH: -p policy=FILL, -p scale=1, -rf json, ...
set -euo pipefail
exec "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/ledger.sh" PlacementBench "$@"
