// onelaunch-worker: everything that touches candidate code. Started by the host with a socket as descriptor 3.

#include <fcntl.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
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
  if (const std::string role = argv[1]; role.starts_with("cuda:")) return worker::serve_cuda(host, std::atoi(role.c_str() + 5), clock);
  return usage();
}
