#include "sandbox/host/ceilings.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace onelaunch::sandbox {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "onelaunch ceilings 1";
constexpr double kAgeMaxS = 24 * 60 * 60;
constexpr std::size_t kBytesMax = 1 << 20;

Json rate_json(const StreamRate& rate) {
  return {{"name", rate.name},
          {"footprint_bytes", rate.footprint_bytes},
          {"resident", rate.resident},
          {"tb_s", rate.tb_s},
          {"skipped", rate.skipped}};
}

Json barrier_json(const BarrierTime& time) {
  return {{"blocks_per_sm", time.blocks_per_sm}, {"us", time.us}, {"skipped", time.skipped}};
}

Json clocks_json(const SeenClocks& clocks) {
  return {{"sm_mhz_low", clocks.sm_mhz_low},     {"sm_mhz_high", clocks.sm_mhz_high},
          {"memory_mhz", clocks.memory_mhz},     {"power_w_high", clocks.power_w_high},
          {"temperature_c_high", clocks.temperature_c_high}, {"throttle_reasons", clocks.throttle_reasons}};
}

SeenClocks clocks_of(const Json& json) {
  SeenClocks clocks;
  json.at("sm_mhz_low").get_to(clocks.sm_mhz_low);
  json.at("sm_mhz_high").get_to(clocks.sm_mhz_high);
  json.at("memory_mhz").get_to(clocks.memory_mhz);
  json.at("power_w_high").get_to(clocks.power_w_high);
  json.at("temperature_c_high").get_to(clocks.temperature_c_high);
  json.at("throttle_reasons").get_to(clocks.throttle_reasons);
  return clocks;
}

Ceilings from(const Json& json) {
  Ceilings ceilings;
  json.at("device").get_to(ceilings.device);
  json.at("target").get_to(ceilings.target);
  json.at("uuid").get_to(ceilings.uuid);
  json.at("driver_version").get_to(ceilings.driver_version);
  json.at("measured_at").get_to(ceilings.measured_at);
  json.at("modelled").get_to(ceilings.modelled);
  json.at("complete").get_to(ceilings.complete);
  json.at("stream_tb_s").get_to(ceilings.stream_tb_s);
  json.at("grid_barrier_us").get_to(ceilings.grid_barrier_us);
  json.at("launch_us").get_to(ceilings.launch_us);
  json.at("enqueue_us").get_to(ceilings.enqueue_us);
  json.at("samples").get_to(ceilings.samples);
  for (const Json& rate : json.at("methods"))
    ceilings.methods.push_back({.name = rate.at("name"),
                                .footprint_bytes = rate.at("footprint_bytes"),
                                .resident = rate.at("resident"),
                                .tb_s = rate.at("tb_s"),
                                .skipped = rate.at("skipped")});
  for (const Json& time : json.at("barriers"))
    ceilings.barriers.push_back({time.at("blocks_per_sm"), time.at("us"), time.at("skipped")});
  ceilings.clocks = clocks_of(json.at("clocks"));
  return ceilings;
}

bool is_sound(const Ceilings& ceilings) {
  for (const double value : {ceilings.stream_tb_s, ceilings.grid_barrier_us, ceilings.launch_us, ceilings.enqueue_us})
    if (!std::isfinite(value) || value < 0) return false;
  return ceilings.stream_tb_s > 0;
}

// Seconds since 1970 of "2026-12-01T05:09:06.123Z"; nothing for other text.
std::optional<double> seconds_of(const std::string& utc) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  if (std::sscanf(utc.c_str(), "%4d-%2d-%2dT%2d:%2d:%lf", &year, &month, &day, &hour, &minute, &second) != 6) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) * 86400.0 + hour * 3600.0 +
         minute * 60.0 + second;
}

std::string file_name(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '_';
  return name;
}

}  // namespace

std::string to_json(const Ceilings& ceilings) {
  Json json = {{"format", kFormat},
               {"device", ceilings.device},
               {"target", ceilings.target},
               {"uuid", ceilings.uuid},
               {"driver_version", ceilings.driver_version},
               {"measured_at", ceilings.measured_at},
               {"modelled", ceilings.modelled},
               {"complete", ceilings.complete},
               {"stream_tb_s", ceilings.stream_tb_s},
               {"grid_barrier_us", ceilings.grid_barrier_us},
               {"launch_us", ceilings.launch_us},
               {"enqueue_us", ceilings.enqueue_us},
               {"samples", ceilings.samples}};
  json["methods"] = Json::array(), json["barriers"] = Json::array();
  for (const StreamRate& rate : ceilings.methods) json["methods"].push_back(rate_json(rate));
  for (const BarrierTime& time : ceilings.barriers) json["barriers"].push_back(barrier_json(time));
  json["clocks"] = clocks_json(ceilings.clocks);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<Ceilings> ceilings_from_json(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat) return invalid("ceilings of another format");
    Ceilings ceilings = from(json);
    if (!is_sound(ceilings)) return invalid("ceilings that are not positive numbers");
    return ceilings;
  } catch (const nlohmann::json::exception& error) {
    return invalid(std::string("no ceilings: ") + error.what());
  }
}

std::filesystem::path CeilingStore::path_of(const std::string& uuid, const std::string& driver_version) const {
  return folder_ / (file_name(uuid) + "-" + file_name(driver_version) + ".json");
}

std::optional<Ceilings> CeilingStore::find(const std::string& uuid, const std::string& driver_version,
                                           const std::string& now_utc) const {
  const auto text = read_file(path_of(uuid, driver_version), kBytesMax);
  if (!text) return std::nullopt;
  auto ceilings = ceilings_from_json(*text);
  if (!ceilings || ceilings->uuid != uuid || ceilings->driver_version != driver_version) return std::nullopt;
  const std::optional<double> then = seconds_of(ceilings->measured_at), now = seconds_of(now_utc);
  if (!then || !now || *now < *then || *now - *then > kAgeMaxS) return std::nullopt;
  return std::move(*ceilings);
}

Result<void> CeilingStore::store(const Ceilings& ceilings) const {
  auto done = replace_file(path_of(ceilings.uuid, ceilings.driver_version), to_json(ceilings) + "\n");
  if (!done) return because(done.error(), "keeping the ceilings for later");
  return {};
}

}  // namespace onelaunch::sandbox
