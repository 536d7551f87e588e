#include "agent/mcp/server.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace onelaunch::agent::mcp {
namespace {

using nlohmann::json;

constexpr const char* kBriefing = "briefing";
constexpr const char* kWait = "wait_for_job";
constexpr const char* kInstructions =
    "A timed session that tunes one CUDA kernel. Call `briefing` first: it has the task, the rules and how to work. Edit kernel.cu "
    "with these tools only; `evaluate` judges it. A call that takes long answers with a job: `wait_for_job` until it is done. "
    "Call `finish` when there is no further idea.";

// The server's own tools run as jobs as well, so that they are cancelled and answered like the others.
class OwnTools final : public ToolHost {
 public:
  explicit OwnTools(ToolHost& session) : session_(session) {}
  Result<Offer> offer(const Cancelled& cancelled) override { return session_.offer(cancelled); }
  Result<ToolAnswer> call(const std::string& tool, const std::string& arguments, const Cancelled& cancelled) override {
    if (tool != kBriefing) return session_.call(tool, arguments, cancelled);
    return session_.offer(cancelled).map([](const Offer& offer) {
      return ToolAnswer{.text = offer.instructions + "\n\n" + offer.task};
    });
  }

 private:
  ToolHost& session_;
};

std::string names_of(const std::vector<Tool>& tools) {
  std::string names;
  for (const Tool& tool : tools) names += (names.empty() ? "" : ", ") + tool.name;
  return names;
}

std::string still_running(const Job& job) {
  return job.tool() + " is still running, as " + job.id() + ". Call " + kWait + " with {\"job\":\"" + job.id() +
         "\"}; the session's other tools wait in line behind it.";
}

struct WaitArguments {
  std::string job;
  Seconds wait{0};
  bool cancel = false;
};

WaitArguments read_wait(const std::string& text, Seconds patience) {
  const json arguments = json::parse(text, nullptr, false);
  WaitArguments read{.wait = patience};
  if (const auto job = arguments.find("job"); job != arguments.end() && job->is_string()) read.job = job->get<std::string>();
  if (const auto wait = arguments.find("seconds"); wait != arguments.end() && wait->is_number())
    read.wait = std::clamp(Seconds(wait->get<double>()), Seconds(0), patience);
  if (const auto cancel = arguments.find("cancel"); cancel != arguments.end() && cancel->is_boolean())
    read.cancel = cancel->get<bool>();
  return read;
}

}  // namespace

std::vector<Tool> served_tools() {
  std::vector<Tool> tools;
  tools.push_back({.name = kBriefing,
                   .description = "How to work here, the task and how the session stands. Call it first.",
                   .schema = R"({"type":"object","properties":{},"additionalProperties":false})"});
  tools.insert(tools.end(), all_tools().begin(), all_tools().end());
  tools.push_back({.name = kWait,
                   .description = "Wait for a call that was answered with a job; answers what the call answers once it is done, else "
                                  "that it is still running. Waits for up to 45 s.",
                   .schema = R"({"type":"object","properties":{"job":{"type":"string","description":"As the call named it, such as job3"},)"
                             R"("seconds":{"type":"number","minimum":0,"maximum":45,"description":"How long to wait; 45 if left out"},)"
                             R"("cancel":{"type":"boolean","description":"true: give the call up instead"}},)"
                             R"("required":["job"],"additionalProperties":false})"});
  return tools;
}

Server::Server(ToolHost& host, std::function<void(const std::string&)> send, ServerOptions options)
    : own_(std::make_unique<OwnTools>(host)),
      send_(std::move(send)),
      options_(std::move(options)),
      tools_(served_tools()),
      jobs_(*own_) {}

void Server::send(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (!ended_) send_(line);
}

void Server::receive(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  const auto message = parse(line);
  if (const auto* refusal = std::get_if<Refusal>(&message)) {
    if (!refusal->line.empty()) send(refusal->line);
    return;
  }
  take(std::get<Request>(message));
}

void Server::refuse_too_long() { send(print_too_long()); }

void Server::take(const Request& request) {
  if (request.method == "notifications/cancelled" && !request.cancels.empty()) return cancel(request.cancels);
  if (request.id.empty()) return;  // a notification is never answered
  const bool stateless = request.era == Era::stateless;
  if (request.method == "initialize") return send(print_initialized(request, options_.version, kInstructions));
  if (request.method == "server/discover") return send(print_discovered(request, options_.version, kInstructions));
  if (request.method == "ping" && !stateless) return send(print_nothing(request));
  if (request.method == "tools/list") return send(print_tools(request, options_.version, tools_));
  if (request.method == "tools/call") return begin(request);
  send(print_unknown_method(request));
}

void Server::begin(const Request& request) {
  const auto call = std::make_shared<Call>();
  call->request = request;
  call->patience = options_.patience;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (!open_.emplace(request.id, call).second) return send_(print_taken_id(request));
  }
  const bool known = std::ranges::any_of(tools_, [&](const Tool& tool) { return tool.name == request.tool; });
  if (!known)
    return answer(call, {.text = "there is no tool " + request.tool + "; there are: " + names_of(tools_), .error = true});
  if (request.tool == kWait) return begin_waiting(call);
  call->job = jobs_.start(request.tool, request.arguments);
  waiters_.run([this, call] { attend(call); });
}

void Server::begin_waiting(const std::shared_ptr<Call>& call) {
  const WaitArguments arguments = read_wait(call->request.arguments, options_.patience);
  call->owner = false;
  call->patience = arguments.wait;
  call->job = jobs_.find(arguments.job);
  if (!call->job) return answer(call, {.text = "there is no job \"" + arguments.job + "\" in this session", .error = true});
  if (arguments.cancel) call->job->cancel();
  waiters_.run([this, call] { attend(call); });
}

void Server::attend(const std::shared_ptr<Call>& call) {
  const SystemClock clock;
  const Seconds start = clock.now();
  const Deadline deadline = Deadline::after(clock, call->patience);
  int told = 0;
  std::optional<ToolAnswer> result;
  while (!result && !call->cancelled) {
    const Seconds wait = std::min(options_.between, std::max(Seconds(0), deadline.left(clock)));
    result = call->job->wait(wait, [&] { return call->cancelled.load(); });
    if (result || call->cancelled || call->job->cancelled()) break;
    if (deadline.passed(clock)) {
      result = ToolAnswer{.text = still_running(*call->job)};
      break;
    }
    if (call->request.progress_token.empty()) continue;
    told = std::max(told + 1, static_cast<int>((clock.now() - start).count()));
    send(print_progress(call->request, told, call->job->tool() + ": " + std::to_string(told) + " s"));
  }
  answer(call, result.value_or(ToolAnswer{.text = call->job->tool() + " was cancelled", .error = true}));
}

// A cancelled request is never answered.
void Server::answer(const std::shared_ptr<Call>& call, const ToolAnswer& answer) {
  const std::lock_guard lock(mutex_);
  open_.erase(call->request.id);
  if (!ended_ && !call->cancelled) send_(print_answer(call->request, options_.version, answer));
}

void Server::cancel(const std::string& id) {
  std::shared_ptr<Call> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end()) return;  // it was answered meanwhile
    call = found->second;
    call->cancelled = true;
  }
  if (!call->job) return;
  if (call->owner) call->job->cancel();
  call->job->wake();
}

void Server::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (auto& [id, call] : open_) call->cancelled = true;
  }
  jobs_.end();
  waiters_.join();
}

}  // namespace onelaunch::agent::mcp
