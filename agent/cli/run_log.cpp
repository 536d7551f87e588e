#include "agent/cli/run_log.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "agent/cli/report_text.h"
#include "agent/loop/budget.h"

namespace onelaunch::cli {
namespace {

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

std::string best_line(const agent::SessionResult& result) {
  if (!result.best_us) return "none";
  std::string line = result.best + "  " + format_number("%.2f us a token, ", *result.best_us) + result.kind;
  if (result.baseline_us)
    line += format_number(", %.2fx over ", *result.baseline_us / *result.best_us) + result.baseline;
  if (result.seed_us) line += format_number(", %.3fx over the seed", *result.seed_us / *result.best_us);
  return line + (result.verified ? "; passed again on fresh weights" : "; not re-graded");
}

std::string time_line(const agent::SessionResult& result) {
  std::string line;
  for (const auto& [kind, seconds] : result.attribution_s)
    if (seconds >= 0.005 * result.active_s)
      line += (line.empty() ? "" : ", ") + kind + " " + agent::print_duration(Seconds(seconds));
  return line;
}

// How fast decisions came, and how fine they could be.
std::string pace_text(const agent::SessionResult& result) {
  std::string text;
  if (result.experiments_per_hour && result.decision_s_median)
    text += padded("pace", 10) + format_number("%.0f experiments an hour, ", *result.experiments_per_hour) +
            format_number("a decision in %.1f s (median)\n", *result.decision_s_median);
  if (result.noise_half_width && result.least_gain)
    text += padded("noise", 10) + format_number("+-%.3f %%, ", 100 * *result.noise_half_width) +
            format_number("kept from a gain of %.2f %% on, ", 100 * *result.least_gain) +
            std::to_string(result.confirmations) + " confirmations\n";
  return text;
}

// What a model cost, in all and for each kernel that was kept.
std::string model_text(const agent::SessionResult& result) {
  if (result.model_turns == 0) return "";
  std::string line = std::to_string(result.model_turns) + " turns, " + std::to_string(result.input_tokens) + " tokens in, " +
                     std::to_string(result.output_tokens) + " out, ";
  if (!result.cost_usd) return padded("model", 10) + line + "unpriced\n";
  line += format_number("$%.2f", *result.cost_usd);
  if (result.kept > 0) line += format_number(", $%.2f for each kernel kept", *result.cost_usd / result.kept);
  return padded("model", 10) + line + "\n";
}

std::string reason_line(const agent::SessionResult& result) {
  std::string line = name_of(result.reason);
  switch (result.reason) {
    case agent::StopReason::cap:
      line += ": its time is used";
      break;
    case agent::StopReason::finished:
      line += ": the agent has no further idea";
      break;
    case agent::StopReason::interrupted:
      line += ": it was asked to stop";
      break;
    case agent::StopReason::budget:
      line += ": a limit is reached";
      break;
    case agent::StopReason::model_refused:
      line += ": the model refused to go on";
      break;
    case agent::StopReason::authentication:
      line += ": the provider does not take the key";
      break;
    case agent::StopReason::quota:
      line += ": the provider's quota is used";
      break;
    case agent::StopReason::provider_outage:
      line += ": the provider cannot be reached";
      break;
    case agent::StopReason::context_overflow:
      line += ": the conversation does not fit the model";
      break;
    case agent::StopReason::loop:
      line += ": the model did the same over and over";
      break;
    case agent::StopReason::error:
      break;
  }
  return result.detail.empty() ? line : line + " (" + first_line(result.detail) + ")";
}

}  // namespace

void RunLog::say(const std::string& topic, const std::string& line) {
  if (!quiet_) progress_.print(padded(topic, 10) + line);
}

void RunLog::busy(const std::string& what) { progress_.busy(what); }

void RunLog::begin(Seconds wall, Seconds spent) {
  {
    const std::lock_guard lock(mutex_);
    began_ = clock_.now() - spent;
    wall_ = wall;
  }
  progress_.lead([this] { return standing(); });
}

void RunLog::decided(const agent::Report& report) {
  int judged = 0;
  {
    const std::lock_guard lock(mutex_);
    judged = ++judged_;
    if (report.verdict == agent::Verdict::keep && report.us) {
      best_ = report.candidate + format_number(" %.2f us", *report.us);
      if (report.over_seed) best_ += format_number(", %.2fx seed", *report.over_seed);
    }
  }
  if (!quiet_) progress_.print(format_number("%4.0f  ", judged) + report_line(report));
}

void RunLog::cost(const std::string& so_far) {
  const std::lock_guard lock(mutex_);
  cost_ = so_far;
}

// "12m05s of 3h00m, best c17 101.80 us, 4.31x seed, 34 tried, $1.23"
std::string RunLog::standing() {
  const std::lock_guard lock(mutex_);
  std::string text = agent::print_duration(clock_.now() - began_) + " of " + agent::print_duration(wall_);
  if (!best_.empty()) text += ", best " + best_;
  text += ", " + std::to_string(judged_) + " tried";
  return cost_.empty() ? text : text + ", " + cost_;
}

std::string summary_text(const agent::SessionResult& result, const std::string& run, Seconds wall) {
  std::ostringstream text;
  text << "\n"
       << padded("ended", 10) << reason_line(result) << ", after " << agent::print_duration(Seconds(result.active_s))
       << " of " << agent::print_duration(wall) << "\n"
       << padded("judged", 10) << result.decisions << " candidates, " << result.kept << " kept\n"
       << padded("best", 10) << best_line(result) << "\n"
       << pace_text(result) << model_text(result)
       << padded("time", 10) << time_line(result) << "\n";
  if (result.best_us) text << padded("kernel", 10) << run << "/best/kernel.cu\n";
  if (!result.published.empty()) text << padded("published", 10) << result.published.string() << "\n";
  text << padded("trace", 10) << run << "/events.jsonl\n"
       << padded("next", 10) << "onelaunch replay " << run << " --view\n";
  return text.str();
}

std::string summary_json(const agent::SessionResult& result, const std::string& run, Seconds wall) {
  using Json = nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json;
  json["reason"] = name_of(result.reason);
  json["detail"] = result.detail;
  json["run"] = run;
  json["best"] = result.best;
  json["kind"] = result.kind;
  json["best_us"] = number(result.best_us);
  json["seed_us"] = number(result.seed_us);
  json["baseline"] = result.baseline;
  json["baseline_us"] = number(result.baseline_us);
  json["verified"] = result.verified;
  json["decisions"] = result.decisions;
  json["kept"] = result.kept;
  json["wall_s"] = wall.count();
  json["active_s"] = result.active_s;
  json["attribution_s"] = result.attribution_s;
  json["experiments_per_hour"] = number(result.experiments_per_hour);
  json["decision_s_median"] = number(result.decision_s_median);
  json["noise_half_width"] = number(result.noise_half_width);
  json["least_gain"] = number(result.least_gain);
  json["confirmations"] = result.confirmations;
  if (result.model_turns > 0) {
    json["model_turns"] = result.model_turns;
    json["input_tokens"] = result.input_tokens, json["output_tokens"] = result.output_tokens;
    json["cost_usd"] = number(result.cost_usd);
  }
  json["published"] = result.published.string();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace onelaunch::cli
