#pragma once
// What we could not do, as a value. What a candidate kernel did wrong is never an Error: see sandbox/protocol/outcome.h.

#include <string>
#include <utility>

namespace tl {
// Debian's 1.0.0 lacks [[nodiscard]]; this redeclaration makes a dropped Result a compile error.
template <class T, class E>
class [[nodiscard]] expected;
}  // namespace tl
#include <tl/expected.hpp>  // here and nowhere else

namespace onelaunch {

struct Error {
  // Named by what the caller can do about it.
  enum class Kind {
    invalid_input,  // correct the input
    unavailable,    // retry later, or install what is missing
    worker_lost,    // respawn the worker
    internal,       // stop
  };
  Kind kind;
  std::string message;  // outermost first: "reading tasks/x.json: line 3: missing comma"
};

template <class T>
using Result = tl::expected<T, Error>;

inline auto fail(Error::Kind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
inline auto invalid(std::string message) { return fail(Error::Kind::invalid_input, std::move(message)); }
inline auto unavailable(std::string message) { return fail(Error::Kind::unavailable, std::move(message)); }

// result.map_error(doing("asking the model"))
inline auto doing(std::string what) {
  return [what = std::move(what)](Error e) {
    e.message.insert(0, what + ": ");
    return e;
  };
}

// Passes an error on with what we were doing: return because(result.error(), "reading the trace").
inline auto because(Error e, const std::string& what) {
  e.message.insert(0, what + ": ");
  return tl::unexpected<Error>(std::move(e));
}
inline auto because(Error e) { return tl::unexpected<Error>(std::move(e)); }

}  // namespace onelaunch
