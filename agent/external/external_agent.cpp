#include "agent/external/external_agent.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "agent/external/local_socket.h"
#include "agent/external/submission.h"
#include "agent/prompts/prompts.h"
#include "traces/reader.h"

namespace onelaunch::agent {
namespace {

constexpr Seconds kLookAtOnce{0.001}, kLookAgain{0.1};  // how soon a wish to stop is noticed
constexpr Seconds kSilenceMax{5};                       // of a client that has connected
constexpr std::chrono::milliseconds kHangUpLooks{100};

// While it lives, a client that goes away interrupts what is done for it.
class HangUpWatch {
 public:
  HangUpWatch(int connection, Workbench& bench)
      : thread_([this, connection, &bench] {
          std::unique_lock lock(mutex_);
          while (!over_) {
            if (hung_up(connection)) bench.interrupt();
            wake_.wait_for(lock, kHangUpLooks, [this] { return over_; });
          }
        }) {}
  ~HangUpWatch() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  HangUpWatch(const HangUpWatch&) = delete;
  HangUpWatch& operator=(const HangUpWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;  // last: it uses the others
};

// A client that has gone finds what it missed in the trace.
void tell_client(const UniqueFd& connection, const std::string& text) {
  [[maybe_unused]] const Result<void> told = send_all(connection.get(), text);
}

// Of the newest saved toolbox in the trace; empty when there is none.
Result<std::string> saved_state(const std::filesystem::path& run) {
  std::string sha256;
  const auto read = traces::read_trace(run, [&](const traces::Record& record) {
    if (const auto* result = std::get_if<traces::ToolResult>(&record.event); result != nullptr && !result->state_sha256.empty())
      sha256 = result->state_sha256;
    return true;
  });
  if (!read) return because(read.error());
  return sha256;
}

}  // namespace

Result<ExternalAgent> ExternalAgent::listen(const std::filesystem::path& run, const Clock& clock,
                                            const StopRequest& stop) {
  Result<UniqueFd> socket = listen_in(run);
  if (!socket) return because(socket.error());
  return ExternalAgent(run, std::move(*socket), clock, stop);
}

ExternalAgent::ExternalAgent(std::filesystem::path run, UniqueFd socket, const Clock& clock, const StopRequest& stop)
    : run_(std::move(run)), socket_(std::move(socket)), clock_(&clock), stop_(&stop) {}

ExternalAgent::~ExternalAgent() {
  std::error_code ignored;
  if (socket_) std::filesystem::remove(run_ / kSocketName, ignored);
}

Result<void> ExternalAgent::begin(const Brief& brief) {
  bench_ = brief.workbench;
  if (bench_ == nullptr) return {};
  toolbox_.emplace(*bench_);
  const Result<std::string> sha256 = saved_state(run_);
  if (!sha256) return because(sha256.error(), "reading what the tools kept");
  if (!sha256->empty()) {
    const Result<void> restored = bench_->stored(*sha256).and_then([&](const std::string& saved) { return toolbox_->restore(saved); });
    if (!restored) bench_->record(traces::Note{.author = "onelaunch", .text = "the tools begin anew: " + restored.error().message});
  }
  state_ = toolbox_->save();
  return {};
}

Result<std::optional<Proposal>> ExternalAgent::ask(Deadline deadline) {
  const int stops = stop_->times();
  while (!deadline.passed(*clock_) && stop_->times() == stops && !end_) {
    const Seconds wait = std::clamp(deadline.left(*clock_), kLookAtOnce, kLookAgain);
    Result<UniqueFd> connection = accept_within(socket_.get(), wait);
    if (!connection) return because(connection.error());
    if (!*connection) continue;
    if (std::optional<Proposal> proposal = receive(std::move(*connection), deadline)) return proposal;
  }
  return std::optional<Proposal>();
}

// A message that is neither a submission nor one to the tools is answered and forgotten.
std::optional<Proposal> ExternalAgent::receive(UniqueFd connection, Deadline deadline) {
  const Result<std::string> text = receive_all(connection.get(), kMessageBytesMax, kSilenceMax);
  if (!text) return tell_client(connection, print_refusal(text.error().message)), std::nullopt;
  if (is_tool_message(*text)) return serve(std::move(connection), *text, deadline);
  return take_submission(std::move(connection), *text);
}

std::optional<Proposal> ExternalAgent::take_submission(UniqueFd connection, const std::string& text) {
  Result<Proposal> proposal = parse_submission(text);
  if (!proposal) return tell_client(connection, print_refusal(proposal.error().message)), std::nullopt;
  waiting_ = Waiting{.connection = std::move(connection), .call = {}, .id = "", .since = clock_->now()};
  return *proposal;
}

std::optional<Proposal> ExternalAgent::serve(UniqueFd connection, const std::string& text, Deadline deadline) {
  const auto request = parse_tool_request(text);
  const auto refuse = [&](const std::string& why) {
    tell_client(connection, print(ToolAnswer{.text = why, .error = true}));
    return std::nullopt;
  };
  if (!request) return refuse(request.error().message);
  if (!toolbox_) return refuse("this session offers no tools");
  if (const auto* call = std::get_if<ToolRequest>(&*request)) return run(std::move(connection), *call, deadline);
  tell_client(connection, print(Offer{.instructions = system_prompt(bench_->device()), .task = first_message(*bench_), .tools = all_tools()}));
  return std::nullopt;
}

std::optional<Proposal> ExternalAgent::run(UniqueFd connection, const ToolRequest& request, Deadline deadline) {
  if (hung_up(connection.get())) return std::nullopt;  // cancelled while it waited in line
  Waiting waiting{.connection = std::move(connection), .call = request, .id = next_id(), .since = clock_->now()};
  bench_->record(traces::ToolCall{.id = waiting.id, .name = request.name, .arguments_sha256 = bench_->store(request.arguments)});
  ToolReply reply = [&] {
    const HangUpWatch watch(waiting.connection.get(), *bench_);
    return toolbox_->call(request.name, request.arguments, deadline);
  }();
  if (reply.proposal) {
    waiting_ = std::move(waiting);
    return std::move(reply.proposal);
  }
  if (reply.finished) end_ = AgentEnd{.reason = StopReason::finished, .why = reply.text.substr(0, reply.text.find('\n'))};
  finish(std::move(waiting), {.text = reply.text, .error = reply.error, .finished = reply.finished});
  return std::nullopt;
}

void ExternalAgent::finish(Waiting waiting, const ToolAnswer& answer) {
  traces::ToolResult event{.id = waiting.id,
                           .name = waiting.call->name,
                           .result_sha256 = bench_->store(answer.text),
                           .error = answer.error,
                           .seconds = std::max(0.0, (clock_->now() - waiting.since).count())};
  if (const std::string state = toolbox_->save(); state != state_) {
    event.state_sha256 = bench_->store(state);
    state_ = state;
  }
  bench_->record(event);
  tell_client(waiting.connection, print(answer));
}

void ExternalAgent::tell(const Report& report) {
  if (!waiting_) return;
  Waiting waiting = std::move(*waiting_);
  waiting_.reset();
  if (!waiting.call) return tell_client(waiting.connection, print_report(report));
  finish(std::move(waiting), {.text = toolbox_->report_text(report), .error = report.verdict == Verdict::unjudged});
}

// Unique over all legs: active milliseconds.
std::string ExternalAgent::next_id() {
  last_id_ = std::max(last_id_ + 1, static_cast<std::int64_t>(bench_->situation().used_s * 1000));
  return "x" + std::to_string(last_id_);
}

}  // namespace onelaunch::agent
