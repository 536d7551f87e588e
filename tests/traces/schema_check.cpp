#include "tests/traces/schema_check.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace onelaunch::traces {
namespace {

class SchemaChecker {
 public:
  SchemaChecker() {
    std::ifstream file(ONELAUNCH_TRACES_DIR "/schema.json");
    const nlohmann::json document = nlohmann::json::parse(file);
    valijson::adapters::NlohmannJsonAdapter adapter(document);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(adapter, schema_);
  }

  std::string problem(const std::string& line) {
    const nlohmann::json document = nlohmann::json::parse(line, nullptr, false);
    if (document.is_discarded()) return "not JSON";
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    valijson::adapters::NlohmannJsonAdapter adapter(document);
    if (validator.validate(schema_, adapter, &results)) return "";
    std::string text;
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      for (const std::string& part : error.context) text += part;
      text += ": " + error.description + "\n";
    }
    return text.empty() ? "invalid" : text;
  }

 private:
  valijson::Schema schema_;
};

}  // namespace

std::string schema_problem(const std::string& line) {
  static SchemaChecker checker;
  return checker.problem(line);
}

}  // namespace onelaunch::traces
