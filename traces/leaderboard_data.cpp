#include "traces/leaderboard_data.h"

#include <nlohmann/json.hpp>

namespace onelaunch::traces {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

std::optional<double> tokens_per_s(const BoardRow& row) {
  return row.us && *row.us > 0 ? std::optional<double>(1e6 / *row.us) : std::nullopt;
}

// RFC 4180; a leading character that a spreadsheet would run as a formula gets an apostrophe.
std::string csv_cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + "\"";
}

std::string number(const std::optional<double>& value) { return value ? Json(*value).dump() : ""; }

template <class T>
std::string pairs(const std::map<T, double>& values) {
  std::string text;
  for (const auto& [key, value] : values) {
    if (!text.empty()) text += ";";
    if constexpr (std::is_arithmetic_v<T>) text += std::to_string(key);
    else text += key;
    text += "=" + number(value);
  }
  return text;
}

template <class T>
std::string whole(const std::optional<T>& value) { return value ? std::to_string(*value) : ""; }

std::string more_cells(const BoardRow& row) {
  return "," + csv_cell(row.model) + "," + row.prompt_sha256 + "," + number(row.us_low) + "," + number(row.us_high) + "," +
         number(tokens_per_s(row)) + "," + pairs(row.over_by_context) + "," + whole(row.launches) + "," +
         whole(row.barriers) + "," + whole(row.input_tokens) + "," + whole(row.output_tokens) + "," +
         number(row.cost_usd) + "," + std::to_string(row.runs) + "," + std::to_string(row.runs_verified) + "," +
         csv_cell(row.quarantine);
}

}  // namespace

std::string print_csv(const Board& board) {
  std::string text =
      "task,variant,device_class,kind,rules,rank,agent,us,floor_share,baseline,over_baseline,over,over_seed,"
      "us_by_context,kept,decisions,time_to_best_s,active_s,finished,verified,containment,harness_version,run,"
      "model,prompt_sha256,us_low,us_high,tokens_per_s,over_by_context,launches,barriers,input_tokens,output_tokens,"
      "cost_usd,runs,runs_verified,quarantine\r\n";
  for (const BoardRow& row : board.rows) {
    const Cells names{row.task, row.variant, row.device_class, row.kind, row.rules};
    for (const std::string& cell : names) text += csv_cell(cell) + ",";
    text += (row.rank > 0 ? std::to_string(row.rank) : "") + "," + csv_cell(row.agent) + "," + number(row.us) + "," +
            number(row.floor_share) + "," + csv_cell(row.baseline) + "," + number(row.over_baseline) + "," +
            csv_cell(pairs(row.over)) + "," + number(row.over_seed) + "," + pairs(row.us_by_context) + "," +
            std::to_string(row.kept) + "," + std::to_string(row.decisions) + "," + number(row.time_to_best_s) + "," +
            number(row.active_s) + "," + (row.finished ? "true" : "false") + "," + (row.verified ? "true" : "false") +
            "," + csv_cell(row.containment) + "," + csv_cell(row.harness_version) + "," + csv_cell(row.run) + more_cells(row) + "\r\n";
  }
  return text;
}

namespace {

template <class T>
void put_whole(Json& json, const char* name, const std::optional<T>& value) { json[name] = value ? Json(*value) : Json(); }

Json json_of(const BoardRow& row) {
  Json json = {{"task", row.task}, {"variant", row.variant}, {"device_class", row.device_class},
               {"kind", row.kind}, {"rules", row.rules},     {"agent", row.agent}};
  json["rank"] = row.rank > 0 ? Json(row.rank) : Json();
  const auto put = [&](const char* name, const std::optional<double>& value) { json[name] = value ? Json(*value) : Json(); };
  put("us", row.us);
  put("floor_share", row.floor_share);
  json["baseline"] = row.baseline;
  put("over_baseline", row.over_baseline);
  json["over"] = row.over;
  put("over_seed", row.over_seed);
  json["us_by_context"] = Json::object();
  for (const auto& [context, us] : row.us_by_context) json["us_by_context"][std::to_string(context)] = us;
  json["kept"] = row.kept;
  json["decisions"] = row.decisions;
  json["time_to_best_s"] = row.time_to_best_s;
  json["active_s"] = row.active_s;
  json["finished"] = row.finished;
  json["verified"] = row.verified;
  json["containment"] = row.containment;
  json["harness_version"] = row.harness_version;
  json["run"] = row.run;
  json["model"] = row.model;
  json["prompt_sha256"] = row.prompt_sha256;
  put("us_low", row.us_low);
  put("us_high", row.us_high);
  put("tokens_per_s", tokens_per_s(row));
  json["over_by_context"] = Json::object();
  for (const auto& [context, over] : row.over_by_context) json["over_by_context"][std::to_string(context)] = over;
  put_whole(json, "launches", row.launches);
  put_whole(json, "barriers", row.barriers);
  put_whole(json, "input_tokens", row.input_tokens);
  put_whole(json, "output_tokens", row.output_tokens);
  put("cost_usd", row.cost_usd);
  json["runs"] = row.runs;
  json["runs_verified"] = row.runs_verified;
  json["other_runs"] = row.other_runs;
  json["quarantine"] = row.quarantine;
  json["check"] = row.check;
  return json;
}

Json json_of(const ExternalEntry& entry) {
  Json json = {{"agent", entry.agent}, {"task", entry.task}, {"device", entry.device}, {"baseline", entry.baseline}};
  json["us"] = entry.us ? Json(*entry.us) : Json();
  json["over"] = entry.over ? Json(*entry.over) : Json();
  json["over_by_context"] = Json::object();
  for (const auto& [context, over] : entry.over_by_context) json["over_by_context"][std::to_string(context)] = over;
  put_whole(json, "launches", entry.launches);
  put_whole(json, "barriers", entry.barriers);
  json["active_s"] = entry.active_s ? Json(*entry.active_s) : Json();
  json["cost_usd"] = entry.cost_usd ? Json(*entry.cost_usd) : Json();
  put_whole(json, "output_tokens", entry.output_tokens);
  for (const auto& [name, text] : {std::pair("citation", &entry.citation), std::pair("url", &entry.url),
                                   std::pair("note", &entry.note), std::pair("file", &entry.file)})
    json[name] = *text;
  return json;
}

}  // namespace


std::string print_json(const Board& board) {
  Json json = {{"format", "onelaunch.board/1"}, {"rows", Json::array()}};
  for (const BoardRow& row : board.rows) json["rows"].push_back(json_of(row));
  json["external"] = Json::array();
  for (const ExternalEntry& entry : board.external) json["external"].push_back(json_of(entry));
  json["skipped"] = board.skipped;
  json["searched"] = board.searched;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace onelaunch::traces
