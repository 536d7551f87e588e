#!/usr/bin/env bash
# The main job in numbers, on this machine: main_job.sh BIN_FOLDER [CAP]. Nothing else should run meanwhile.
set -euo pipefail
bin=$1 cap=${2:-2m}
seed=tasks/library/kimi_linear_decode/seed.cu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache

say() { printf '\n== %s\n' "$*"; }
peak() { # Runs a command; prints its peak memory, children included one by one.
  /usr/bin/time -f 'peak memory of the largest process: %M kB, %e s in all' "$@"
}

say "Machine"
lscpu | grep -E '^Model name|^CPU\(s\)'
uptime

say "Compiling the seed: first, then from the cache"
for _ in 1 2; do "$bin/onelaunch" eval kimi_linear_decode $seed --variant tiny | grep -E '^compile|machine'; done

say "Weights and oracle at full size"
"$bin/tasks_bench" kimi_linear_decode 2 16384
"$bin/tasks_bench" kimi_linear_decode 1 16384

say "The seed at full size, context 2048: every gate"
peak "$bin/onelaunch" eval kimi_linear_decode $seed --device emu --context 2048 | grep -E 'context 2048: |^passed|^rejected'

say "A session of $cap on tiny"
SECONDS=0
"$bin/onelaunch" run kimi_linear_decode --variant tiny --agent tuner --device emu --wall "$cap" \
  --out "$scratch/run" --publish "$scratch/published" | grep -E '^(ended|judged|best|time)'
echo "wall clock from start to exit: $SECONDS s"
