#include "agent/tools/toolbox.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/tools/catalog.h"
#include "agent/tools/desk.h"
#include "agent/tools/reporting_text.h"

namespace onelaunch::agent {
namespace {

using Json = nlohmann::json;  // sorts its keys
constexpr const char* kVersion = "onelaunch.tools/1";

using Do = ToolReply (*)(Desk&, const Arguments&, Deadline);
constexpr std::array<std::pair<const char*, Do>, 15> kDo{{{"read_kernel", read_kernel},
                                                          {"write_kernel", write_kernel},
                                                          {"str_replace", replace_text},
                                                          {"apply_patch", patch_kernel},
                                                          {"compile", compile_kernel},
                                                          {"evaluate", evaluate_kernel},
                                                          {"profile", profile_kernel},
                                                          {"microbench", measure_device},
                                                          {"emulate", emulate_kernel},
                                                          {"disassemble", disassemble_kernel},
                                                          {"history", show_history},
                                                          {"revert", revert_kernel},
                                                          {"notes", take_notes},
                                                          {"task", show_task},
                                                          {"finish", finish_session}}};

std::string names_of_all() {
  std::string names;
  for (const ToolEntry& entry : tool_entries()) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

ToolReply reply_to(Desk& desk, const std::string& name, const std::string& arguments_json, Deadline deadline) {
  const ToolEntry* const entry = find_tool(name);
  if (entry == nullptr) return refuse("There is no tool `" + name + "`. There are: " + names_of_all() + ".");
  const Result<Arguments> arguments = Arguments::parse(arguments_json, entry->fields);
  if (!arguments) return refuse(arguments.error().message + ".");
  for (const auto& [known, run] : kDo)
    if (name == known) return run(desk, *arguments, deadline);
  return refuse("The tool `" + name + "` is not there.");
}

std::string with_status(std::string text, const std::string& status) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text + status;
}

}  // namespace

Toolbox::Toolbox(Workbench& workbench) : desk_(new Desk{.bench = workbench}) {
  desk_->origin = workbench.situation().incumbent;
  desk_->source = workbench.source_of(desk_->origin).value_or("");
}

Toolbox::~Toolbox() = default;
Toolbox::Toolbox(Toolbox&&) noexcept = default;
Toolbox& Toolbox::operator=(Toolbox&&) noexcept = default;

ToolReply Toolbox::call(const std::string& name, const std::string& arguments_json, Deadline deadline) {
  ToolReply reply = reply_to(*desk_, name, arguments_json, deadline);
  reply.text = with_status(std::move(reply.text), status_line());
  return reply;
}

void Toolbox::evaluated() { settle_origin(*desk_); }

std::string Toolbox::report_text(const Report& report) const {
  return with_status(agent::report_text(report, desk_->bench.situation()), status_line());
}

std::string Toolbox::status_line() const { return agent::status_line(desk_->bench.situation()); }

const std::string& Toolbox::candidate() const { return desk_->source; }
const std::string& Toolbox::notes() const { return desk_->notes; }

std::string Toolbox::save() const {
  const Json json = {
      {"v", kVersion},           {"source", desk_->source}, {"origin", desk_->origin}, {"origin_sha256", desk_->origin_sha256},
      {"notes", desk_->notes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<void> Toolbox::restore(const std::string& saved) {
  const Json json = Json::parse(saved, nullptr, false);
  if (!json.is_object() || json.value("v", Json()) != Json(kVersion)) return invalid("this is no saved toolbox");
  for (const char* key : {"source", "origin", "origin_sha256", "notes"})
    if (!json.contains(key) || !json.at(key).is_string()) return invalid(std::string("a saved toolbox has a text `") + key + "`");
  desk_->source = json.at("source").get<std::string>();
  desk_->origin = json.at("origin").get<std::string>();
  desk_->origin_sha256 = json.at("origin_sha256").get<std::string>();
  desk_->notes = json.at("notes").get<std::string>();
  return {};
}

}  // namespace onelaunch::agent
