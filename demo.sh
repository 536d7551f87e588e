#!/usr/bin/env bash
# Builds onelaunch and runs one timed session on this machine, without a GPU: ./demo.sh [CAP], such as ./demo.sh 1m
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=cmake/setup.sh
. cmake/setup.sh
wall=${1:-2m}

need_packages "${build_packages[@]}"
need_cuda
say "Building (build/release)"
cmake --preset release -DONELAUNCH_TESTS=OFF
cmake --build --preset release -j "$(jobs)" --target onelaunch onelaunch-worker

onelaunch=build/release/bin/onelaunch
run=traces/runs/$(date -u +%Y%m%dT%H%M%SZ)-demo
say "A session of $wall: the tuner on kimi_linear_decode (tiny), the emulated H200"
"$onelaunch" run kimi_linear_decode --variant tiny --agent tuner --device emu --wall "$wall" --out "$run"
say "What it kept, read back from its trace"
"$onelaunch" replay "$run" --view --only keep
say "The leaderboard (modelled times; measured ones have boards of their own)"
"$onelaunch" leaderboard traces/runs
