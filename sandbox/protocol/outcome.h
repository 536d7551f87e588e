#pragma once
// What a candidate kernel did. Each of these is an ordinary result, never an Error.

#include <string>
#include <variant>

namespace onelaunch::sandbox {

struct Passed {};
struct CompileFailed { std::string log; };
struct Refused { std::string rule, message; };        // static gate: declarations, resources, forbidden constructs
struct WrongAnswer { std::string message; };          // the failing gate's numbers are in Grade::gates
struct Faulted { std::string kind, message; };        // "out_of_bounds", "deadlock", "trap", ... with place and lane
struct TimedOut { std::string what; double limit_s; };
struct Crashed { std::string how; };                  // the worker died: "SIGSEGV", "exit 3"
using Outcome = std::variant<Passed, CompileFailed, Refused, WrongAnswer, Faulted, TimedOut, Crashed>;

// "passed", "compile_failed", "refused", "wrong_answer", "faulted", "timed_out", "crashed"
const char* name_of(const Outcome& outcome);
// One or a few lines that a person or an agent can act on.
std::string explain(const Outcome& outcome);

}  // namespace onelaunch::sandbox
