#include "agent/mcp/message.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

namespace onelaunch::agent::mcp {
namespace {

using nlohmann::json;

constexpr int kParseError = -32700, kInvalidRequest = -32600, kUnknownMethod = -32601, kInvalidParams = -32602,
              kUnsupportedVersion = -32022;
constexpr const char* kStateless = "2026-07-28";
constexpr std::array kInitialized = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr int kLastsMs = 3'600'000;  // the list of tools never changes; a client may ask again after an hour

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string print_error(const json& id, int code, const std::string& message, const json& data = {}) {
  json error = {{"code", code}, {"message", message}};
  if (!data.is_null()) error["data"] = data;
  return text_of({{"jsonrpc", "2.0"}, {"id", id}, {"error", error}});
}

bool is_id(const json& value) { return value.is_string() || value.is_number_integer(); }

std::string member_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// What is wrong with a stateless request, if anything.
std::optional<std::string> read_era(const json& id, const json& meta, Request& request) {
  if (request.method == "initialize" || request.id.empty()) return {};
  if (!meta.contains(kVersionKey)) {
    if (request.method != "server/discover") return {};
    return print_error(id, kInvalidParams, std::string("params._meta lacks ") + kVersionKey);
  }
  request.era = Era::stateless;
  const std::string version = member_text(meta, kVersionKey);
  if (version != kStateless)
    return print_error(id, kUnsupportedVersion, "unsupported protocol version",
                       {{"supported", json::array({kStateless})}, {"requested", meta[kVersionKey]}});
  const auto capabilities = meta.find(kCapabilitiesKey);
  if (capabilities == meta.end() || !capabilities->is_object())
    return print_error(id, kInvalidParams, std::string("params._meta lacks ") + kCapabilitiesKey);
  return {};
}

std::optional<std::string> read_params(const json& id, const json& params, Request& request) {
  const auto refuse = [&](const std::string& why) { return print_error(id, kInvalidParams, why); };
  if (request.method == "initialize") {
    request.version = member_text(params, "protocolVersion");
    if (request.version.empty()) return refuse("params.protocolVersion is missing");
  }
  if (request.method == "tools/list" && !member_text(params, "cursor").empty())
    return refuse("no such cursor: the list of tools has one page");
  if (request.method != "tools/call") return {};
  request.tool = member_text(params, "name");
  if (request.tool.empty()) return refuse("params.name is missing: which tool?");
  const json arguments = params.value("arguments", json::object());
  if (!arguments.is_object()) return refuse("params.arguments is not an object");
  request.arguments = text_of(arguments);
  return {};
}

std::variant<Request, Refusal> read_request(const json& message, const json& id) {
  Request request{.id = id.is_null() ? "" : text_of(id), .method = message["method"].get<std::string>()};
  const json params = message.value("params", json::object());
  const bool notification = id.is_null();
  if (!params.is_object())
    return Refusal{notification ? "" : print_error(id, kInvalidParams, "params is not an object")};
  json meta = params.value("_meta", json::object());
  if (!meta.is_object()) meta = json::object();
  if (const auto token = meta.find("progressToken"); token != meta.end() && is_id(*token))
    request.progress_token = text_of(*token);
  if (const auto cancels = params.find("requestId"); cancels != params.end() && is_id(*cancels))
    request.cancels = text_of(*cancels);
  if (notification) return request;
  if (const auto wrong = read_era(id, meta, request)) return Refusal{*wrong};
  if (const auto wrong = read_params(id, params, request)) return Refusal{*wrong};
  return request;
}

std::string print_result(const Request& request, json result) {
  if (request.era == Era::stateless) result["resultType"] = "complete";
  return text_of({{"jsonrpc", "2.0"}, {"id", json::parse(request.id)}, {"result", std::move(result)}});
}

json server_info(const std::string& version) {
  return {{"name", "onelaunch"}, {"title", "onelaunch"}, {"version", version}};
}

void sign(const Request& request, const std::string& version, json& result) {
  if (request.era == Era::stateless) result["_meta"] = {{kServerKey, server_info(version)}};
}

void say_how_long(const Request& request, json& result) {
  if (request.era != Era::stateless) return;
  result["ttlMs"] = kLastsMs;
  result["cacheScope"] = "private";
}

json no_members() { return json::object(); }

}  // namespace

std::variant<Request, Refusal> parse(std::string_view line) {
  const json message = json::parse(line, nullptr, false);
  if (message.is_discarded()) return Refusal{print_error(nullptr, kParseError, "not JSON")};
  if (message.is_array()) return Refusal{print_error(nullptr, kInvalidRequest, "batches are not supported: one message a line")};
  if (!message.is_object()) return Refusal{print_error(nullptr, kInvalidRequest, "not an object")};
  const bool has_id = message.contains("id");
  if (has_id && !is_id(message["id"])) return Refusal{print_error(nullptr, kInvalidRequest, "id is neither a string nor an integer")};
  const json id = has_id ? message["id"] : json();
  if (member_text(message, "jsonrpc") != "2.0") return Refusal{print_error(id, kInvalidRequest, "jsonrpc is not \"2.0\"")};
  if (member_text(message, "method").empty()) {
    const bool answer = message.contains("result") || message.contains("error");  // we ask nothing: not for us
    return Refusal{answer ? "" : print_error(id, kInvalidRequest, "method is missing")};
  }
  return read_request(message, id);
}

std::string print_initialized(const Request& request, const std::string& server_version, const std::string& instructions) {
  const bool known = std::ranges::find(kInitialized, request.version) != kInitialized.end();
  return print_result(request, {{"protocolVersion", known ? request.version : std::string(kInitialized.front())},
                                {"capabilities", {{"tools", no_members()}}},
                                {"serverInfo", server_info(server_version)},
                                {"instructions", instructions}});
}

std::string print_discovered(const Request& request, const std::string& server_version, const std::string& instructions) {
  json result = {{"supportedVersions", json::array({kStateless})},
                 {"capabilities", {{"tools", no_members()}}},
                 {"instructions", instructions}};
  say_how_long(request, result);
  sign(request, server_version, result);
  return print_result(request, std::move(result));
}

std::string print_tools(const Request& request, const std::string& server_version, const std::vector<Tool>& tools) {
  json list = json::array();
  for (const Tool& tool : tools)
    list.push_back({{"name", tool.name}, {"description", tool.description}, {"inputSchema", json::parse(tool.schema)}});
  json result = {{"tools", std::move(list)}};
  say_how_long(request, result);
  sign(request, server_version, result);
  return print_result(request, std::move(result));
}

// Text only: several clients show their model structuredContent instead of it.
std::string print_answer(const Request& request, const std::string& server_version, const ToolAnswer& answer) {
  json result = {{"content", json::array({{{"type", "text"}, {"text", answer.text}}})}, {"isError", answer.error}};
  sign(request, server_version, result);
  return print_result(request, std::move(result));
}

std::string print_nothing(const Request& request) { return print_result(request, no_members()); }

std::string print_unknown_method(const Request& request) {
  return print_error(json::parse(request.id), kUnknownMethod, "unknown method " + request.method);
}

std::string print_taken_id(const Request& request) {
  return print_error(json::parse(request.id), kInvalidRequest, "a request with this id is still open");
}

std::string print_progress(const Request& request, int seconds, const std::string& what) {
  return text_of({{"jsonrpc", "2.0"},
                  {"method", "notifications/progress"},
                  {"params", {{"progressToken", json::parse(request.progress_token)}, {"progress", seconds}, {"message", what}}}});
}

std::string print_too_long() { return print_error(nullptr, kInvalidRequest, "the message is too long"); }

}  // namespace onelaunch::agent::mcp
