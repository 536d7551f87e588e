#!/bin/bash
# Records what the CUDA Toolkit's disassemblers print for our own kernels, to test sandbox/host/sass against:
#   tests/gpu/record_sass.sh ONELAUNCH OUT
# Runs in the repository's root, where nvcc and nvdisasm or cuobjdump are installed. No GPU is needed.
set -eu
onelaunch=$1 out=$2
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$PATH:/usr/local/cuda/bin
for task in rmsnorm_linear llama_block_decode kimi_linear_decode; do
  variant=(); [ $task = llama_block_decode ] || variant=(--variant tiny)
  "$onelaunch" tasks show $task "${variant[@]}" --header > "$work/onelaunch.cuh"
  defines=$(sed -n 's/^OL_TUNABLE(\([A-Z_0-9]*\), *\([^,]*\),.*/-D\1=\2/p' tasks/library/$task/seed.cu)
  # shellcheck disable=SC2086
  nvcc -arch=sm_90a -std=c++20 --expt-relaxed-constexpr -cubin -I "$work" $defines -o "$work/$task.cubin" tasks/library/$task/seed.cu
  ! command -v nvdisasm > /dev/null || nvdisasm -c "$work/$task.cubin" > "$out/$task.nvdisasm"
  ! command -v cuobjdump > /dev/null || cuobjdump -sass "$work/$task.cubin" > "$out/$task.cuobjdump"
done
ls -l "$out"
