#pragma once
// What passes over a session's socket when a program uses the session's tools: one JSON object each way, the sender closes
// its side after it. agent/external/submission.h has the other kind of message.
//
//   {"v":"onelaunch.tools/1","tools":true}                         -> the offer
//   {"v":"onelaunch.tools/1","tool":"compile","arguments":{...}}   -> {"v":..., "text":..., "error":false, "finished":false}
//
// The answer of `evaluate` comes once the candidate is judged. Closing the connection cancels a call that is running.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/tools/toolbox.h"
#include "base/result.h"

namespace onelaunch::agent {

struct OfferRequest {};
struct ToolRequest {
  std::string name, arguments;  // arguments: JSON text
};

// What a session offers to a program that wants to work in it.
struct Offer {
  std::string instructions;  // how to work here, for a system prompt
  std::string task;          // what is to be done, and how the session stands
  std::vector<Tool> tools;
};
struct ToolAnswer {
  std::string text;
  bool error = false, finished = false;
};

// Whether the text is one of these messages rather than a submission.
bool is_tool_message(std::string_view text);
std::string print(const OfferRequest& request);
std::string print(const ToolRequest& request);
Result<std::variant<OfferRequest, ToolRequest>> parse_tool_request(std::string_view text);

std::string print(const Offer& offer);
std::string print(const ToolAnswer& answer);
Result<Offer> parse_offer(std::string_view text);
Result<ToolAnswer> parse_tool_answer(std::string_view text);

}  // namespace onelaunch::agent
