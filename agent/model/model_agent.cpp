#include "agent/model/model_agent.h"

#include <algorithm>
#include <utility>

#include "agent/model/words.h"
#include "agent/prompts/prompts.h"
#include "base/check.h"
#include "base/sha256.h"

namespace onelaunch::agent {
namespace {

constexpr std::uint64_t kBytesPerToken = 3;  // at least: estimates are on the safe side

// What a provider or a model says, for a line of the log.
std::string one_line(std::string text) {
  constexpr std::size_t bytes_max = 400;
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
  if (text.size() <= bytes_max) return text;
  std::size_t cut = bytes_max;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

AgentEnd end_of(const llm::CallFailure& failure) {
  using Kind = llm::CallFailure::Kind;
  const std::string what = one_line(failure.what);
  switch (failure.kind) {
    case Kind::authentication:
      return {.reason = StopReason::authentication, .why = what};
    case Kind::quota:
      return {.reason = StopReason::quota, .why = what};
    case Kind::context_full:
      return {.reason = StopReason::context_overflow, .why = what};
    case Kind::outage:
      return {.reason = StopReason::provider_outage, .why = what};
    default:
      return {.reason = StopReason::error, .why = "the provider does not take the request: " + what};
  }
}

}  // namespace

ModelAgent::ModelAgent(ModelOptions options, OpenChat open, const Clock& clock, Observer& observer,
                       std::vector<traces::Record> past)
    : options_(std::move(options)),
      open_(std::move(open)),
      clock_(clock),
      observer_(observer),
      past_(std::move(past)) {}

ModelAgent::~ModelAgent() = default;

void ModelAgent::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (chat_) chat_->stop();
}

Result<void> ModelAgent::begin(const Brief& brief) {
  OL_CHECK(brief.workbench != nullptr, "a model needs a workbench");
  bench_ = brief.workbench;
  toolbox_.emplace(*bench_);
  writer_.emplace(options_, *bench_, *toolbox_);
  system_ = system_prompt(bench_->device());
  for (const Tool& tool : toolbox_->tools())
    tools_.push_back({.name = tool.name, .description = tool.description, .schema = tool.schema});
  if (const Result<void> taken = take_up(); !taken) return because(taken.error(), "taking up the conversation");
  return chat_ ? Result<void>() : open_chat(options_.output_tokens_max, "");
}

Result<void> ModelAgent::open_chat(std::uint64_t output_tokens_max, const std::string& saved) {
  Result<std::unique_ptr<llm::Chat>> chat =
      open_({.system = system_, .tools = tools_, .output_tokens_max = output_tokens_max});
  if (!chat) return because(chat.error());
  if (!saved.empty())
    if (const Result<void> restored = (*chat)->restore(saved); !restored) return because(restored.error());
  const std::lock_guard lock(mutex_);
  chat_ = std::move(*chat);
  saved_ = saved;
  output_tokens_max_ = output_tokens_max;
  if (stopped_) chat_->stop();
  return {};
}

Result<std::optional<Proposal>> ModelAgent::ask(Deadline deadline) {
  while (!end_ && !bench_->stopping() && !deadline.passed(clock_)) {
    if (!talk_.in_flight()) {
      end_ = reason_to_end();
      if (end_) break;
      if (!talk_.calls_done()) {
        if (std::optional<Proposal> proposal = run_call(deadline)) return proposal;
        continue;
      }
      if (const Result<void> asked = next_request(); !asked) return because(asked.error());
      if (end_) break;
    }
    if (!send(deadline)) break;
  }
  return std::optional<Proposal>();
}

std::optional<AgentEnd> ModelAgent::reason_to_end() const {
  if (talk_.stuck())
    return AgentEnd{StopReason::loop, "the same tool call had the same outcome over and over, or every call failed"};
  if (!talk_.finished_because().empty()) return AgentEnd{StopReason::finished, one_line(talk_.finished_because())};
  if (talk_.nudges() > options_.nudges_max)
    return AgentEnd{StopReason::finished, "the model ended its turn " + std::to_string(talk_.nudges()) +
                                              " times in a row without calling a tool"};
  if (talk_.cut_offs() > options_.cut_offs_max)
    return AgentEnd{StopReason::loop, std::to_string(talk_.cut_offs()) + " replies in a row were longer than allowed"};
  const std::optional<ModelTurn>& answer = talk_.last_answer();
  if (talk_.refusals() >= options_.refusals_max && answer)
    return AgentEnd{StopReason::model_refused, answer->detail.empty() ? "it gave no reason" : one_line(answer->detail)};
  if (answer && answer->ending == llm::Ending::context_full && talk_.replies_since_restart() == 0)
    return AgentEnd{StopReason::context_overflow, "not even a new conversation fits the model"};
  return std::nullopt;
}

// ---- the conversation ----

std::uint64_t ModelAgent::prompt_tokens(const UserTurn& turn) const {
  std::uint64_t bytes = turn.text.size();
  for (const UserTurn::Output& output : turn.outputs) bytes += bench_->stored(output.sha256).value_or("").size();
  const bool anew = turn.kind == UserTurn::Kind::open || turn.kind == UserTurn::Kind::restart;
  if (!anew && talk_.last_answer()) return talk_.last_answer()->context_tokens + bytes / kBytesPerToken;
  bytes += system_.size();
  for (const llm::ToolSpec& tool : tools_) bytes += tool.name.size() + tool.description.size() + tool.schema.size();
  return bytes / kBytesPerToken;
}

Result<void> ModelAgent::next_request() {
  const UserTurn turn = writer_->next(talk_, restart_);
  if (const Result<void> prepared = prepare(turn); !prepared || end_) return prepared;
  if (const Result<void> said = put(turn); !said) return said;
  record_request(turn);
  restart_ = false;
  return {};
}

// A chat that is new where the conversation is, and whose replies may be as long as the budget allows.
Result<void> ModelAgent::prepare(const UserTurn& turn) {
  const std::optional<std::uint64_t> allowed = allowed_output(options_.budget, options_.prices, talk_.spending(),
                                                              prompt_tokens(turn), options_.output_tokens_max);
  if (!allowed) {
    end_ = AgentEnd{StopReason::budget, "what is left of the budget does not pay for another call (spent " +
                                            spending_text(options_.budget, talk_.spending()) + ")"};
    return {};
  }
  if (turn.kind == UserTurn::Kind::restart) {
    observer_.say("model", "the conversation is begun anew");
    return open_chat(*allowed, "");
  }
  return *allowed == output_tokens_max_ ? Result<void>() : open_chat(*allowed, saved_);
}

Result<void> ModelAgent::put(const UserTurn& turn) {
  if (turn.kind == UserTurn::Kind::again) return {};
  if (turn.kind != UserTurn::Kind::answer) return chat_->say(turn.text), Result<void>();
  std::vector<llm::ToolOutput> outputs;
  for (const UserTurn::Output& output : turn.outputs) {
    Result<std::string> text = bench_->stored(output.sha256);
    if (!text) return because(text.error(), "reading a tool's result back");
    outputs.push_back({.call_id = output.call_id, .text = std::move(*text), .error = output.error});
  }
  chat_->answer(outputs, turn.text);
  return {};
}

void ModelAgent::record_request(const UserTurn& turn) {
  bench_->record(traces::ModelRequest{.provider = options_.provider,
                                      .model = options_.model,
                                      .request_sha256 = bench_->store(print(turn)),
                                      .turn = talk_.turns() + 1});
  talk_.asked(turn);
}

bool ModelAgent::send(Deadline deadline) {
  observer_.busy("asking " + options_.model + ", turn " + std::to_string(talk_.turns()));
  const llm::SendResult reply = chat_->send(deadline, [&](const llm::Retry& retry) {
    record_wait();
    waiting_ = retry;
    wait_began_ = clock_.now();
    observer_.busy("waiting for " + options_.provider + " (" + retry.why + "), turn " + std::to_string(talk_.turns()));
  });
  record_wait();
  if (reply) return heard(*reply), true;
  failed(reply.error());
  return restart_;
}

// Once it is over, so that its time is known.
void ModelAgent::record_wait() {
  if (!waiting_) return;
  const double seconds = std::clamp((clock_.now() - wait_began_).count(), 0.0, std::max(0.0, waiting_->wait_s));
  bench_->record(traces::Wait{.what = "provider: " + waiting_->why, .seconds = seconds});
  waiting_.reset();
}

void ModelAgent::heard(const llm::Reply& reply) {
  const std::string history = chat_->save();
  const ModelTurn turn = model_turn(reply, step_between(saved_, history));
  saved_ = history;
  std::string ending = llm::name_of(reply.ending);
  if (!reply.detail.empty()) ending += ": " + reply.detail;
  const traces::ModelResponse event{
      .provider = options_.provider,
      .model = reply.model.empty() ? options_.model : reply.model,
      .response_sha256 = bench_->store(print(turn)),
      .stop_reason = ending,
      .turn = talk_.turns(),
      .input_tokens = reply.usage.input,
      .output_tokens = reply.usage.output,
      .cache_read_tokens = reply.usage.cache_read,
      .cost_usd = reply.cost_usd || !options_.cost_of ? reply.cost_usd : options_.cost_of(reply.usage),
      .seconds = reply.seconds,
      .cache_write_tokens = reply.usage.cache_write_5m + reply.usage.cache_write_1h,
      .reasoning_tokens = reply.usage.reasoning};
  bench_->record(event);
  talk_.answered(turn, event);
  observer_.cost(spending_text(options_.budget, talk_.spending()));
}

// What a new conversation may heal is tried once; the rest ends the session, in so many words.
void ModelAgent::failed(const llm::CallFailure& failure) {
  using Kind = llm::CallFailure::Kind;
  if (failure.kind == Kind::deadline || failure.kind == Kind::stopped) return;
  const bool of_history = failure.kind == Kind::context_full || failure.kind == Kind::bad_request;
  if (of_history && talk_.replies_since_restart() > 0) {
    bench_->record(traces::Note{.author = "onelaunch", .text = "the provider does not take the conversation: " + one_line(failure.what)});
    restart_ = true;
    talk_.dropped();
    return;
  }
  end_ = end_of(failure);
}

// ---- the tools ----

std::optional<Proposal> ModelAgent::run_call(Deadline deadline) {
  Talk::Call& call = *talk_.open_call();
  call_began_ = clock_.now();
  observer_.busy(options_.model + " calls " + call.call.name);
  if (!call.begun) {
    bench_->record(traces::ToolCall{
        .id = call.id, .name = call.call.name, .arguments_sha256 = bench_->store(call.call.arguments)});
    talk_.called();
  }
  // Judged before the session was killed, but not told.
  for (const Report& report : bench_->history())
    if (!call.candidate.empty() && report.candidate == call.candidate) {
      toolbox_->evaluated();
      return tell(report), std::nullopt;
    }
  const ToolReply reply = toolbox_->call(call.call.name, call.call.arguments, deadline);
  if (reply.proposal) return reply.proposal;
  const Workbench::Situation now = bench_->situation();
  const bool early = reply.finished && talk_.finish_asked() == 0 && now.left_s > options_.finish_share * now.wall_s;
  finish_call(early ? words::really_finish() : reply.text, reply.error);
  return std::nullopt;
}

void ModelAgent::tell(const Report& report) {
  if (talk_.calls_done()) return;
  // Cut short by the session's end: judged when it is resumed.
  if (report.verdict == Verdict::unjudged && (bench_->stopping() || bench_->work_end().passed(clock_))) return;
  finish_call(toolbox_->report_text(report), report.verdict == Verdict::unjudged);
}

void ModelAgent::finish_call(const std::string& text, bool error) {
  const Talk::Call& call = *talk_.open_call();
  const std::string state = toolbox_->save(), state_sha256 = sha256_hex(state);
  traces::ToolResult event{.id = call.id,
                           .name = call.call.name,
                           .result_sha256 = bench_->store(text),
                           .error = error,
                           .seconds = std::max(0.0, (clock_.now() - call_began_).count())};
  if (state_sha256 != talk_.tool_state()) event.state_sha256 = bench_->store(state);
  bench_->record(event);
  talk_.returned(event, {.name = call.call.name,
                         .arguments = call.call.arguments,
                         .output = text,
                         .state = state_sha256,
                         .error = error});
}

}  // namespace onelaunch::agent
