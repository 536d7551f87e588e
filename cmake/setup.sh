# Sourced by demo.sh and test.sh: what has to be there before the build, installed when we may.
# shellcheck shell=bash

build_packages=(g++ cmake ninja-build ccache libexpected-dev nlohmann-json3-dev libspdlog-dev libcli11-dev libssl-dev libcurl4-openssl-dev
  zlib1g-dev libsimdjson-dev libjs-chart.js libjs-highlight.js)
test_packages=(libgtest-dev libgmock-dev libvalijson-dev git)

say() { printf '\n== %s\n' "$*"; }

# need_packages NAME...: installs the missing ones when root, else says how.
need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is no Debian or Ubuntu; needed are the equivalents of: $*"
    return 0
  fi
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "Packages are missing. Install them, then run this again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  say "Installing ${missing[*]}"
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# The CUDA Toolkit compiles kernels (NVRTC) and has their headers. No GPU and no driver are needed.
need_cuda() {
  local root
  for root in "${CUDAToolkit_ROOT:-}" "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda /usr /opt/cuda; do
    if [ -n "$root" ] && [ -e "$root/include/nvrtc.h" ]; then return 0; fi
  done
  if command -v nvcc >/dev/null; then return 0; fi
  cat >&2 <<'TEXT'
The CUDA Toolkit (12.4 or newer) was not found in /usr/local/cuda, $CUDA_PATH or $CUDAToolkit_ROOT.
onelaunch compiles kernels with its NVRTC; neither a GPU nor a driver is needed.
Get it at https://developer.nvidia.com/cuda-downloads (the toolkit alone), then run this again.
TEXT
  exit 1
}

jobs() { nproc 2>/dev/null || echo 2; }
