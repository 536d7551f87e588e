#pragma once
// From the options of `run` to a language model that works on the session.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/llm/chat.h"
#include "agent/loop/session.h"
#include "agent/model/model_agent.h"
#include "base/clock.h"
#include "base/result.h"
#include "traces/event.h"

namespace onelaunch::cli {

// As given on the command line.
struct ModelChoices {
  std::optional<double> budget_usd;
  std::optional<std::uint64_t> budget_tokens, max_output_tokens, context_window;
  std::string key_file, effort;
};

// Everything that is known before the first request. Holds a key: never print it.
struct ModelPlan {
  llm::ModelName name;
  llm::Credentials credentials;
  std::string effort;
  agent::ModelOptions options;
};

// "anthropic:MODEL" and the like, whether or not the rest makes sense.
bool names_model(const std::string& agent);
// What may be recorded and shown: an address without user and password.
std::string shown_agent(const std::string& agent);
// Fails (invalid_input) on a name that is none, a key that is missing, limits that make no sense, a budget in dollars for a
// model whose prices are unknown.
Result<ModelPlan> plan_model(const std::string& agent, const ModelChoices& choices);
// What the session records of it.
void put_on_record(const ModelPlan& model, agent::SessionOptions& session);

// The events that a resumed conversation is taken up from.
bool concerns_model(const traces::Event& event);

// Borrows the clock and the observer.
std::unique_ptr<agent::ModelAgent> make_model_agent(const ModelPlan& model, const Clock& clock, agent::Observer& observer,
                                                    std::vector<traces::Record> past);

// The model that a signal stops, while there is one. Any thread.
class ModelTarget {
 public:
  void set(agent::ModelAgent* model);
  void stop();

 private:
  std::mutex mutex_;
  agent::ModelAgent* model_ = nullptr;
};

}  // namespace onelaunch::cli
