// Which model is meant, where it is and with which key.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "agent/llm/address.h"
#include "agent/llm/chat.h"
#include "base/files.h"

namespace onelaunch::llm {
namespace {

constexpr std::size_t kKeyFileBytes = 64u << 10;

struct Variables {
  std::vector<std::string> key, bearer, base_url;
};

const Variables& variables_of(const std::string& provider) {
  static const std::map<std::string, Variables> table = {
      {"anthropic", {{"ANTHROPIC_API_KEY"}, {"ANTHROPIC_AUTH_TOKEN"}, {"ANTHROPIC_BASE_URL"}}},
      {"openai", {{"OPENAI_API_KEY"}, {}, {"OPENAI_BASE_URL"}}},
      {"gemini", {{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, {}, {"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}}},
      {"compat", {{"ONELAUNCH_API_KEY"}, {}, {"ONELAUNCH_BASE_URL"}}}};
  return table.at(provider);
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\"'"), end = text.find_last_not_of(" \t\r\n\"'");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Names to values: the environment, or the lines of a key file.
class Source {
 public:
  static Source environment() { return Source(std::nullopt); }
  static Source lines(const std::string& text) {
    std::map<std::string, std::string> values;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string line = trimmed(text.substr(at, end - at));
      at = end + 1;
      if (line.starts_with("export ")) line.erase(0, 7);
      const std::size_t equals = line.find('=');
      if (line.starts_with('#') || line.empty()) continue;
      const bool is_assignment =
          equals != std::string::npos && equals > 0 &&
          std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
            return c == '_' || std::isupper(static_cast<unsigned char>(c)) ||
                   std::isdigit(static_cast<unsigned char>(c));
          });
      if (is_assignment)
        values[line.substr(0, equals)] = trimmed(line.substr(equals + 1));
      else
        values.emplace("", line);  // the key alone
    }
    return Source(std::move(values));
  }

  std::string first(const std::vector<std::string>& names) const {
    for (const std::string& name : names)
      if (std::string value = get(name); !value.empty()) return value;
    return "";
  }

 private:
  explicit Source(std::optional<std::map<std::string, std::string>> values) : values_(std::move(values)) {}
  std::string get(const std::string& name) const {
    if (values_) {
      const auto found = values_->find(name);
      return found == values_->end() ? "" : found->second;
    }
    const char* value = std::getenv(name.c_str());
    return value ? trimmed(value) : "";
  }
  std::optional<std::map<std::string, std::string>> values_;
};

Result<Source> source_of(const std::string& key_file) {
  if (key_file.empty()) return Source::environment();
  const auto text = read_file(key_file, kKeyFileBytes);
  if (!text) return because(text.error(), "reading the key file");
  return Source::lines(*text);
}

}  // namespace

Result<ModelName> parse_model_name(const std::string& agent) {
  constexpr const char* kForms = "; write anthropic:MODEL, openai:MODEL, gemini:MODEL or compat:MODEL@URL";
  const std::size_t colon = agent.find(':');
  if (colon == std::string::npos) return invalid("'" + agent + "' names no provider" + kForms);
  ModelName name{agent.substr(0, colon), agent.substr(colon + 1), ""};
  if (name.provider != "anthropic" && name.provider != "openai" && name.provider != "gemini" &&
      name.provider != "compat")
    return invalid("'" + name.provider + "' is no provider" + kForms);
  // The first @ before an address: a model's name may hold one itself.
  if (name.provider == "compat") {
    const std::size_t at = std::min(name.model.find("@http://"), name.model.find("@https://"));
    if (at != std::string::npos) {
      name.base_url = name.model.substr(at + 1);
      name.model.resize(at);
    } else if (name.model.find('@') != std::string::npos) {
      return invalid("the address in '" + agent + "' must begin with http:// or https://");
    }
  }
  if (name.model.empty()) return invalid("'" + agent + "' names no model" + kForms);
  return name;
}

Result<Credentials> find_credentials(const ModelName& model, const std::string& key_file) {
  const Variables& variables = variables_of(model.provider);
  const auto source = source_of(key_file);
  if (!source) return because(source.error());
  Credentials found;
  found.key = source->first(variables.key);
  if (found.key.empty() && !key_file.empty()) found.key = source->first({""});
  if (found.key.empty()) {
    found.key = source->first(variables.bearer);
    found.bearer = !found.key.empty();
  }
  found.base_url = model.base_url;
  if (found.base_url.empty()) found.base_url = source->first(variables.base_url);
  if (found.base_url.empty()) found.base_url = Source::environment().first(variables.base_url);
  if (model.provider == "compat" && found.base_url.empty())
    return invalid("where is the server? Write compat:" + model.model + "@URL or set ONELAUNCH_BASE_URL");
  if (found.key.empty() && model.provider != "compat") {
    if (!key_file.empty())
      return invalid("no key in " + key_file + ": it must hold the key alone, or a line " + variables.key.front() +
                     "=...");
    return invalid("no key: set " + variables.key.front() + ", or name a file that holds it");
  }
  return found;
}

}  // namespace onelaunch::llm
