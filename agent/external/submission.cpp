#include "agent/external/submission.h"

#include <nlohmann/json.hpp>

namespace onelaunch::agent {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kVersion = "onelaunch.submit/1";

std::string print(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void put(Json& json, const char* name, const std::optional<double>& value) {
  if (value) json[name] = *value;
}

std::optional<double> number(const Json& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  return json.at(name).get<double>();
}

Result<Json> parse(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid("a JSON object was expected");
  if (json.value("v", "") != kVersion) return invalid(std::string("the message's `v` must be ") + kVersion);
  return json;
}

Verdict verdict_named(const std::string& name) {
  for (const Verdict verdict : {Verdict::keep, Verdict::revert, Verdict::reject, Verdict::quarantine})
    if (name == name_of(verdict)) return verdict;
  return Verdict::unjudged;
}

Proposal read_proposal(const Json& json) {
  return {.source = json.at("source").get<std::string>(),
          .tunables = json.value("tunables", sandbox::TunableValues{}),
          .parent = "",
          .note = json.value("note", ""),
          .prediction_us = number(json, "prediction_us")};
}

Report::Screen read_screen(const Json& json) {
  return {.ratio = json.value("ratio", 0.0),
          .low = json.value("low", 0.0),
          .high = json.value("high", 0.0),
          .said = json.value("said", "")};
}

Report read_report(const Json& json) {
  Report report;
  report.candidate = json.at("candidate").get<std::string>();
  report.verdict = verdict_named(json.at("verdict").get<std::string>());
  report.outcome = json.value("outcome", "");
  report.reason = json.value("reason", "");
  for (const Json& time : json.value("times", Json::array()))
    report.times.push_back({.context = time.at("context").get<std::int64_t>(),
                            .us = time.at("us").get<double>(),
                            .low_us = time.value("low_us", 0.0),
                            .high_us = time.value("high_us", 0.0)});
  report.us = number(json, "us");
  report.over_incumbent = number(json, "over_incumbent");
  report.low = number(json, "low");
  report.high = number(json, "high");
  report.n = json.value("n", 0);
  report.workers = json.value("workers", 0);
  report.discarded = json.value("discarded", 0);
  if (json.contains("screen")) report.screen = read_screen(json.at("screen"));
  report.over_seed = number(json, "over_seed");
  report.over_baseline = number(json, "over_baseline");
  report.baseline = json.value("baseline", "");
  report.modelled = json.value("kind", "modelled") == "modelled";
  report.incumbent = json.value("incumbent", "");
  report.left_s = json.value("left_s", 0.0);
  report.proposal.tunables = json.value("tunables", sandbox::TunableValues{});
  report.proposal.prediction_us = number(json, "prediction_us");
  return report;
}

}  // namespace

std::string print_submission(const Proposal& proposal) {
  Json json = {{"v", kVersion}, {"source", proposal.source}};
  if (!proposal.tunables.empty()) json["tunables"] = proposal.tunables;
  if (!proposal.note.empty()) json["note"] = proposal.note;
  put(json, "prediction_us", proposal.prediction_us);
  return print(json);
}

Result<Proposal> parse_submission(std::string_view text) {
  const Result<Json> json = parse(text);
  if (!json) return because(json.error());
  try {
    return read_proposal(*json);
  } catch (const Json::exception& error) {
    return invalid(std::string("the submission is malformed: ") + error.what());
  }
}

std::string print_report(const Report& report) {
  Json json = {{"v", kVersion},
               {"candidate", report.candidate},
               {"verdict", name_of(report.verdict)},
               {"outcome", report.outcome},
               {"reason", report.reason}};
  put(json, "us", report.us);
  put(json, "over_incumbent", report.over_incumbent);
  put(json, "low", report.low);
  put(json, "high", report.high);
  json["n"] = report.n;
  if (!report.modelled) json["workers"] = report.workers, json["discarded"] = report.discarded;
  if (const auto& screen = report.screen)
    json["screen"] = {{"ratio", screen->ratio}, {"low", screen->low}, {"high", screen->high}, {"said", screen->said}};
  put(json, "over_seed", report.over_seed);
  put(json, "over_baseline", report.over_baseline);
  put(json, "prediction_us", report.proposal.prediction_us);
  json["baseline"] = report.baseline;
  json["kind"] = report.modelled ? "modelled" : "measured";
  json["incumbent"] = report.incumbent;
  json["tunables"] = report.proposal.tunables;
  json["times"] = Json::array();
  for (const ReportedTime& time : report.times)
    json["times"].push_back(
        {{"context", time.context}, {"us", time.us}, {"low_us", time.low_us}, {"high_us", time.high_us}});
  json["left_s"] = report.left_s;
  return print(json);
}

std::string print_refusal(const std::string& why) { return print(Json{{"v", kVersion}, {"error", why}}); }

Result<Report> parse_report(std::string_view text) {
  const Result<Json> json = parse(text);
  if (!json) return because(json.error());
  try {
    if (json->contains("error")) return invalid(json->at("error").get<std::string>());
    return read_report(*json);
  } catch (const Json::exception& error) {
    return invalid(std::string("the report is malformed: ") + error.what());
  }
}

}  // namespace onelaunch::agent
