// How a model's conversation is taken up from the trace of a session that was killed.
#include <utility>

#include "agent/model/model_agent.h"

namespace onelaunch::agent {

Result<void> ModelAgent::take_up() {
  for (const traces::Record& record : past_)
    if (const Result<void> folded = fold(record); !folded) return folded;
  past_.clear();
  if (!talk_.tool_state().empty()) {
    const Result<std::string> state = bench_->stored(talk_.tool_state());
    if (!state) return because(state.error(), "the candidate file and notes");
    if (const Result<void> restored = toolbox_->restore(*state); !restored) return restored;
  }
  if (talk_.turns() == 0) return {};
  const std::string saved = std::exchange(saved_, "");
  if (const Result<void> opened = open_chat(options_.output_tokens_max, saved); !opened) {
    // Another model, or other prompts and tools than then: what was learned is carried over, the words are not.
    bench_->record(traces::Note{.author = "onelaunch", .text = "the conversation cannot be continued: " + opened.error().message});
    restart_ = true;
    talk_.dropped();
    return {};
  }
  return talk_.in_flight() ? put(talk_.last_said()) : Result<void>();
}

Result<void> ModelAgent::fold(const traces::Record& record) {
  if (const auto* request = std::get_if<traces::ModelRequest>(&record.event)) return fold_request(*request);
  if (const auto* response = std::get_if<traces::ModelResponse>(&record.event)) return fold_response(*response);
  if (const auto* result = std::get_if<traces::ToolResult>(&record.event)) return fold_result(*result);
  if (std::holds_alternative<traces::ToolCall>(record.event)) talk_.called();
  if (const auto* candidate = std::get_if<traces::Candidate>(&record.event)) talk_.proposed(candidate->id);
  if (std::holds_alternative<traces::SessionEnd>(record.event)) talk_.ended();
  return {};
}

Result<void> ModelAgent::fold_request(const traces::ModelRequest& event) {
  const Result<std::string> text = bench_->stored(event.request_sha256);
  if (!text) return because(text.error(), "turn " + std::to_string(event.turn));
  const Result<UserTurn> turn = parse_user_turn(*text);
  if (!turn) return because(turn.error());
  if (turn->kind == UserTurn::Kind::open || turn->kind == UserTurn::Kind::restart) saved_.clear();
  talk_.asked(*turn);
  return {};
}

Result<void> ModelAgent::fold_response(const traces::ModelResponse& event) {
  const Result<std::string> text = bench_->stored(event.response_sha256);
  if (!text) return because(text.error(), "the answer of turn " + std::to_string(event.turn));
  const Result<ModelTurn> turn = parse_model_turn(*text);
  if (!turn) return because(turn.error());
  Result<std::string> history = taken(saved_, turn->history);
  if (!history) return because(history.error(), "turn " + std::to_string(event.turn));
  saved_ = std::move(*history);
  talk_.answered(*turn, event);
  return {};
}

Result<void> ModelAgent::fold_result(const traces::ToolResult& event) {
  const Talk::Call* call = talk_.open_call();
  if (call == nullptr) return {};
  const Result<std::string> output = bench_->stored(event.result_sha256);
  if (!output) return because(output.error(), "the result of " + event.name);
  const std::string& state = event.state_sha256.empty() ? talk_.tool_state() : event.state_sha256;
  const CallSeen seen{.name = event.name,
                      .arguments = call->call.arguments,
                      .output = *output,
                      .state = state,
                      .error = event.error};
  talk_.returned(event, seen);
  return {};
}

}  // namespace onelaunch::agent
