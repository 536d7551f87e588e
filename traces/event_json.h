#pragma once
// One record <-> one line of strict JSON.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "traces/event.h"

namespace onelaunch::traces {

inline constexpr int kTraceVersion = 1;

const char* type_of(const Event& event);

// The line without its newline. Invalid UTF-8 becomes U+FFFD; an optional number that is not finite is left out.
// Fails (internal) when a required number is not finite or a field breaks its rule (fields.h): that is our bug.
Result<std::string> print_record(const Record& record);

struct ParsedLine {
  Record record;             // `event` means nothing when the type is unknown
  bool known = true;
  std::string type;
};

enum class Strictness {
  lenient,  // unknown words and malformed hashes pass: a newer writer may know more of them
  strict,   // every rule of fields.h holds
};

// Reusable, so that parsing a long trace does not allocate anew for each line. One thread at a time.
class LineParser {
 public:
  explicit LineParser(Strictness strictness = Strictness::lenient);
  ~LineParser();
  // Bytes that must be readable (with any content) behind the line.
  static std::size_t padding();
  // Unknown fields are passed over. Fails (invalid_input) with the reason.
  Result<ParsedLine> parse(std::string_view padded_line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onelaunch::traces
