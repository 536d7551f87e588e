#pragma once
// What a provider complained about, sorted by what can be done. Decided by codes and types; by words only where some
// server has no code for it.

#include <optional>
#include <string>
#include <string_view>

#include "agent/llm/http.h"

namespace onelaunch::llm {

struct Fault {
  enum class Kind {
    transient,  // the same request may succeed later
    malformed,  // so it may, but the reply was broken by the model, not by the line: few tries
    authentication,
    quota,
    bad_request,
    context_full,
    refused,  // a filter declined the prompt
  };
  Kind kind = Kind::transient;
  std::string what;
  int status = 0;
  std::optional<double> wait_s;  // as the provider asks
  bool last = false;             // the provider says that trying again is of no use
};

// An answer that is no success; `body` as far as received.
Fault fault_of(const HttpAnswer& answer, std::string_view body);

// An error that came inside a stream: the JSON text of an object with "error", or of the error itself.
Fault fault_of_event(std::string_view json);

// retry-after-ms, retry-after in seconds or as an HTTP date. Nothing when absent, broken or not in the future.
std::optional<double> asked_wait_s(const HttpHeaders& headers);

}  // namespace onelaunch::llm
