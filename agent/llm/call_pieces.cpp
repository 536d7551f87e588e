#include "agent/llm/call_pieces.h"

#include <set>

#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

// Whether this piece, which names a function, cannot belong to the call: some servers repeat the name with every piece,
// others send parallel calls whole and all with the same index.
bool begins_another(const PiecedCall& call, const Json& function) {
  if (text_at(function, "name").empty() || call.name.empty()) return false;
  const Json& arguments = at(function, "arguments");
  if (arguments.is_object()) return !call.arguments.empty();
  return is_json_object(call.arguments) && text_at(function, "arguments").starts_with("{");
}

}  // namespace

PiecedCall& CallPieces::call_for(const Json& piece) {
  const auto index = count_at(piece, "index");
  const std::string id = text_at(piece, "id");
  const Json& function = at(piece, "function");
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (index && call->index != index) continue;
    if (!index && !id.empty() && call->id != id) continue;
    // A new id at an index that is in use begins a new call.
    const bool other = (!id.empty() && !call->id.empty() && id != call->id) || begins_another(*call, function);
    if (other) break;
    return *call;
  }
  calls_.push_back({index, id, "", ""});
  return calls_.back();
}

void CallPieces::take(const Json& pieces) {
  if (!pieces.is_array()) return;
  for (const Json& piece : pieces) {
    if (!piece.is_object()) continue;
    PiecedCall& call = call_for(piece);
    const Json& function = at(piece, "function");
    if (call.id.empty()) call.id = text_at(piece, "id");
    if (call.name.empty()) call.name = text_at(function, "name");
    const Json& arguments = at(function, "arguments");
    call.arguments += arguments.is_object() ? printed(arguments) : text_at(function, "arguments");
  }
}

std::vector<PiecedCall> CallPieces::finish(int turn) const {
  std::vector<PiecedCall> calls;
  std::set<std::string> ids;
  for (PiecedCall call : calls_) {
    if (call.name.empty()) continue;  // nothing that could be run or answered
    for (std::size_t n = calls.size(); call.id.empty() || ids.contains(call.id); ++n)
      call.id = "call_" + std::to_string(turn) + "_" + std::to_string(n);
    ids.insert(call.id);
    if (call.arguments.find_first_not_of(" \t\r\n") == std::string::npos) call.arguments = "{}";
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace onelaunch::llm
