#include <algorithm>

#include "agent/llm/address.h"
#include "agent/llm/chat_session.h"
#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

// A header cannot hold more, and one that did could smuggle others in.
bool is_header_text(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

Result<void> check(const ModelName& model, const Credentials& credentials, const ChatOptions& options) {
  if (!is_header_text(credentials.key)) return invalid("the key holds characters that no key has");
  if (!is_header_text(options.anthropic_version)) return invalid("'" + options.anthropic_version + "' is no version");
  const std::string& url = credentials.base_url;
  if (!url.empty() && !url.starts_with("http://") && !url.starts_with("https://"))
    return invalid("the address '" + without_password(url) + "' must begin with http:// or https://");
  if (options.max_output_tokens == 0) return invalid("max_output_tokens is 0");
  for (const ToolSpec& tool : options.tools)
    if (tool.name.empty() || !is_json_object(tool.schema))
      return invalid("the schema of tool '" + tool.name + "' is no JSON object");
  if (model.provider == "compat" && url.empty()) return invalid("a compatible server needs an address");
  return {};
}

std::unique_ptr<Dialect> dialect_of(const ModelName& model, const Credentials& credentials,
                                    const ChatOptions& options) {
  if (model.provider == "anthropic") return anthropic_dialect(model, credentials, options);
  if (model.provider == "openai") return responses_dialect(model, credentials, options);
  if (model.provider == "gemini") return gemini_dialect(model, credentials, options);
  if (model.provider == "compat") return completions_dialect(model, credentials, options);
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Chat>> open_chat(const ModelName& model, const Credentials& credentials, ChatOptions options,
                                        const Clock& clock) {
  if (const auto checked = check(model, credentials, options); !checked) return because(checked.error());
  auto dialect = dialect_of(model, credentials, options);
  if (!dialect) return invalid("'" + model.provider + "' is no provider");
  auto http = HttpClient::open(clock);
  if (!http) return because(http.error());
  auto prices = PriceTable::parse(PriceTable::built_in_text());
  if (!prices) return because(prices.error());
  return std::make_unique<ChatSession>(ChatSession::Parts{model, credentials.key, std::move(options),
                                                          std::move(dialect), std::move(*http), std::move(*prices)},
                                       clock);
}

}  // namespace onelaunch::llm
