// onelaunch-worker: everything that touches candidate code. Started by the host with a socket as descriptor 3.

#include <fcntl.h>
#include <signal.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "base/clock.h"
#include "sandbox/protocol/frame.h"
#include "sandbox/worker/candidate_role.h"
#include "sandbox/worker/compile_role.h"
#include "sandbox/worker/cuda_role.h"

namespace {

constexpr int kHostSocket = 3;

int usage() {
  std::fputs("onelaunch-worker is started by onelaunch; it is of no use by itself.\n", stderr);
  return 2;
}

// The N of "cuda:N".
std::optional<int> gpu_in(const std::string& role) {
  const std::string kind = "cuda:";
  if (!role.starts_with(kind)) return std::nullopt;
  int ordinal = 0;
  const char* const end = role.data() + role.size();
  const auto read = std::from_chars(role.data() + kind.size(), end, ordinal);
  return read.ec == std::errc() && read.ptr == end && ordinal >= 0 ? std::optional(ordinal) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace onelaunch;
  if (argc != 2 || ::fcntl(kHostSocket, F_GETFD) < 0) return usage();
  // Ctrl-C is for the host to act on: it ends us when it wants to.
  ::signal(SIGINT, SIG_IGN);
  const SystemClock clock;
  sandbox::FrameChannel host{UniqueFd(kHostSocket)};
  if (std::strcmp(argv[1], "compile") == 0) return worker::serve_compiles(host, clock);
  if (std::strcmp(argv[1], "emu") == 0) return worker::serve_emulated(host);
  if (const std::optional<int> ordinal = gpu_in(argv[1])) worker::serve_cuda(host, *ordinal, clock);
  return usage();
}
