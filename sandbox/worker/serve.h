#pragma once
// The life of a worker that runs kernels: one request, one reply, until the host goes away.

#include <functional>
#include <string>

#include "sandbox/protocol/frame.h"

namespace onelaunch::worker {

// Empty: not a request that is understood.
using Answering = std::function<std::string(sandbox::Frame&)>;

// Serves until the host closes the connection, or until `done` says so after an answer; returns the exit code. What
// `answer` throws (out of memory) becomes an answer that says so.
int serve(sandbox::FrameChannel& host, const Answering& answer, const std::function<bool()>& done = {});

// Says `what` went wrong, in an answer to a message of this kind.
std::string answer_with_problem(const std::string& kind, const std::string& what);

// A host that was killed cannot kill us: its end of the socket closing is the sign to go, even in mid-launch.
void leave_with_the_host(int socket);

}  // namespace onelaunch::worker
