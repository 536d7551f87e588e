#!/bin/sh
# Builds the fuzz targets with clang (address and undefined-behaviour sanitizers) and runs each for SECONDS.
# Usage: tests/fuzz/run.sh SECONDS [TARGET...]; inputs that fail are left in build/fuzz/found.
set -eu
[ $# -ge 1 ] || { echo "usage: tests/fuzz/run.sh SECONDS [TARGET...]" >&2; exit 2; }
seconds=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${ONELAUNCH_FUZZ_BUILD:-$root/build/fuzz}
[ $# -gt 0 ] || set -- task_json ptx declarations frames messages trace sse

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CLANG:-clang++}" \
  -DONELAUNCH_FUZZ=ON -DONELAUNCH_TESTS=OFF > /dev/null
for target in "$@"; do set -- "$@" "fuzz_$target"; shift; done
cmake --build "$build" --target "$@"

mkdir -p "$build/found"
failed=0
for program in "$@"; do
  target=${program#fuzz_}
  mkdir -p "$build/corpus/$target"
  echo "== $target, $seconds s"
  if ! "$build/fuzz/$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$build/found/$target-" "$build/corpus/$target" "$root/tests/fuzz/corpus/$target" \
    > "$build/$target.log" 2>&1; then
    failed=1
    grep -E "ERROR|runtime error|SUMMARY|Test unit" "$build/$target.log" || tail -5 "$build/$target.log"
  fi
  grep -E "number_of_executed_units" "$build/$target.log" || true
done
exit $failed
