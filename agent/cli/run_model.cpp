#include "agent/cli/run_model.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "agent/llm/prices.h"
#include "agent/model/context_window.h"
#include "agent/prompts/prompts.h"

namespace onelaunch::cli {
namespace {

constexpr std::array<std::string_view, 4> kProviders{"anthropic:", "openai:", "gemini:", "compat:"};
constexpr std::uint64_t kContextWindowMin = 16'000;

// The dearest kind of input, at the rates of the longest prompts.
std::optional<agent::TokenPrices> dearest(const llm::Price& price) {
  agent::TokenPrices prices;
  for (const llm::Rates& rates : {price.rates, price.long_rates.value_or(price.rates)}) {
    if (!rates.input || !rates.output) return std::nullopt;
    for (const auto& rate : {rates.input, rates.cache_read, rates.cache_write_5m, rates.cache_write_1h})
      prices.input = std::max(prices.input, rate.value_or(0));
    prices.output = std::max(prices.output, *rates.output);
  }
  return prices;
}

void set_prices(const llm::ModelName& name, agent::ModelOptions& options) {
  const Result<llm::PriceTable> table = llm::PriceTable::parse(llm::PriceTable::built_in_text());
  const llm::Price* price = table ? table->find(name.provider, name.model) : nullptr;
  if (price == nullptr) return;
  options.prices = dearest(*price);
  options.cost_of = [table = *table, name](const llm::Usage& usage) {
    return table.cost_usd(name.provider, name.model, usage);
  };
}

Result<void> check_choices(const ModelChoices& choices) {
  if (choices.budget_usd && !(*choices.budget_usd > 0)) return invalid("--budget-usd must be above 0");
  if (choices.budget_tokens && *choices.budget_tokens == 0) return invalid("--budget-tokens must be above 0");
  if (choices.max_output_tokens && *choices.max_output_tokens < agent::kOutputTokensMin)
    return invalid("--max-output-tokens must be at least " + std::to_string(agent::kOutputTokensMin));
  if (choices.context_window && *choices.context_window < kContextWindowMin)
    return invalid("--context-window must be at least " + std::to_string(kContextWindowMin) +
                   ": the task and a kernel alone take that much");
  return {};
}

}  // namespace

bool names_model(const std::string& agent) {
  return std::ranges::any_of(kProviders, [&](std::string_view provider) { return agent.starts_with(provider); });
}

std::string shown_agent(const std::string& agent) {
  const std::size_t scheme = agent.find("://");
  if (scheme == std::string::npos) return agent;
  const std::size_t host = scheme + 3, end = std::min(agent.find('/', host), agent.size());
  const std::size_t at = agent.rfind('@', end);
  return at == std::string::npos || at < host ? agent : agent.substr(0, host) + agent.substr(at + 1);
}

Result<ModelPlan> plan_model(const std::string& agent, const ModelChoices& choices) {
  if (const Result<void> sound = check_choices(choices); !sound) return because(sound.error());
  ModelPlan plan;
  Result<llm::ModelName> name = llm::parse_model_name(agent);
  if (!name) return because(name.error(), "--agent");
  plan.name = std::move(*name);
  Result<llm::Credentials> credentials = llm::find_credentials(plan.name, choices.key_file);
  if (!credentials) return invalid(credentials.error().message + " (--key-file)");
  plan.credentials = std::move(*credentials);
  plan.effort = plan.options.effort = choices.effort;
  plan.options.agent = shown_agent(agent);
  plan.options.provider = plan.name.provider;
  plan.options.model = plan.name.model;
  plan.options.budget = {.usd = choices.budget_usd, .tokens = choices.budget_tokens};
  set_prices(plan.name, plan.options);
  if (choices.budget_usd && !plan.options.prices)
    return invalid("no price of " + plan.options.agent + " is known, so that --budget-usd cannot be kept; use --budget-tokens");
  if (choices.max_output_tokens) plan.options.output_tokens_max = *choices.max_output_tokens;
  plan.options.context_window = choices.context_window
                                    ? *choices.context_window
                                    : agent::context_window_of(plan.name.provider, plan.name.model);
  return plan;
}

void put_on_record(const ModelPlan& model, agent::SessionOptions& session) {
  session.budget_usd = model.options.budget.usd;
  session.budget_tokens = model.options.budget.tokens;
  session.prompt_sha256 = agent::prompts_sha256();
}

bool concerns_model(const traces::Event& event) {
  return std::holds_alternative<traces::ModelRequest>(event) || std::holds_alternative<traces::ModelResponse>(event) ||
         std::holds_alternative<traces::ToolCall>(event) || std::holds_alternative<traces::ToolResult>(event) ||
         std::holds_alternative<traces::Candidate>(event) || std::holds_alternative<traces::SessionEnd>(event);
}

std::unique_ptr<agent::ModelAgent> make_model_agent(const ModelPlan& model, const Clock& clock, agent::Observer& observer,
                                                    std::vector<traces::Record> past) {
  const agent::OpenChat open = [model, &clock](const agent::ChatRequest& request) {
    llm::ChatOptions options;
    options.system = request.system;
    options.tools = request.tools;
    options.max_output_tokens = request.output_tokens_max;
    options.effort = model.effort;
    return llm::open_chat(model.name, model.credentials, options, clock);
  };
  return std::make_unique<agent::ModelAgent>(model.options, open, clock, observer, std::move(past));
}

void ModelTarget::set(agent::ModelAgent* model) {
  const std::lock_guard lock(mutex_);
  model_ = model;
}

void ModelTarget::stop() {
  const std::lock_guard lock(mutex_);
  if (model_) model_->stop();
}

}  // namespace onelaunch::cli
