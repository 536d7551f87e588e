#!/usr/bin/env bash
# Builds everything and runs every test. A run without a test is a failure.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=cmake/setup.sh
. cmake/setup.sh

need_packages "${build_packages[@]}" "${test_packages[@]}"
need_cuda
say "Building (build/release)"
cmake --preset release -DONELAUNCH_TESTS=ON
cmake --build --preset release -j "$(jobs)"
say "Testing"
ctest --preset release -j "$(jobs)" "$@"
