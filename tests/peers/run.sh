#!/usr/bin/env bash
# Drives the MCP server with clients that were written elsewhere, each through a tiny session on the emulator, offline.
#   tests/peers/run.sh [BUILD_FOLDER]     (default build)
# PEERS_ROOT: a folder where these were installed with `npm install --ignore-scripts`:
#   @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/inspector@1.0.3
# What is missing is skipped, and said.
set -u
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:-$here/../../build}")/bin/onelaunch
peers=${PEERS_ROOT:-$here/node}
failed=0 ran=0

skip() { echo "SKIPPED $1: $2"; }

[ -x "$program" ] || { echo "there is no $program; build it first" >&2; exit 2; }
if ! command -v node >/dev/null || [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  skip "all peers" "Node 20 or newer is needed"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# offline COMMAND...: with a throw-away HOME and, where we may, no network but the loopback.
offline() {
  mkdir -p "$work/home"
  local -a clean=(env -i "HOME=$work/home" "PATH=$PATH" ${ONELAUNCH_WORKER:+"ONELAUNCH_WORKER=$ONELAUNCH_WORKER"} timeout -k 10 150)
  if unshare -n true 2>/dev/null; then
    unshare -n sh -c 'ip link set lo up 2>/dev/null; exec "$@"' sh "${clean[@]}" "$@"
  else
    "${clean[@]}" "$@"
  fi
}

# A session counts when it ended and left its kernel.
check_session() {
  grep -q '"session_end"' "$1/run/events.jsonl" && [ -s "$1/run/best/kernel.cu" ]
}

# peer NAME PACKAGE COMMAND...
peer() {
  local name=$1 package=$2
  shift 2
  [ -d "$peers/node_modules/$package" ] || { skip "$name" "$package is not in $peers"; return; }
  ran=$((ran + 1))
  mkdir -p "$work/$name"
  if offline "$@" >"$work/$name/log" 2>&1 && { [ "$name" = inspector ] || check_session "$work/$name"; }; then
    echo "passed  $name"
  else
    echo "FAILED  $name"
    sed 's/^/    /' "$work/$name/log" | tail -30
    failed=1
  fi
}

peer legacy @modelcontextprotocol/sdk node "$here/legacy.mjs" "$program" "$work/legacy" "$peers"
peer modern @modelcontextprotocol/client node "$here/modern.mjs" "$program" "$work/modern" "$peers"
peer inspector @modelcontextprotocol/inspector node "$peers/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js" \
  --cli "$program" mcp --session "$work/none" --method tools/list
echo "$ran peers ran"
exit $failed
