#include "sandbox/protocol/outcome.h"

#include <cstdio>

namespace onelaunch::sandbox {
namespace {

struct Name {
  const char* operator()(const Passed&) const { return "passed"; }
  const char* operator()(const CompileFailed&) const { return "compile_failed"; }
  const char* operator()(const Refused&) const { return "refused"; }
  const char* operator()(const WrongAnswer&) const { return "wrong_answer"; }
  const char* operator()(const Faulted&) const { return "faulted"; }
  const char* operator()(const TimedOut&) const { return "timed_out"; }
  const char* operator()(const Crashed&) const { return "crashed"; }
};

struct Explain {
  std::string operator()(const Passed&) const { return "passed"; }
  std::string operator()(const CompileFailed& o) const { return "does not compile:\n" + o.log; }
  std::string operator()(const Refused& o) const { return "refused (" + o.rule + "): " + o.message; }
  std::string operator()(const WrongAnswer& o) const { return "wrong answer: " + o.message; }
  std::string operator()(const Faulted& o) const { return "the kernel faulted (" + o.kind + "): " + o.message; }
  std::string operator()(const TimedOut& o) const {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%.3g s", o.limit_s);
    return "ran out of time: " + o.what + " took longer than " + limit;
  }
  std::string operator()(const Crashed& o) const { return "the worker died: " + o.how; }
};

}  // namespace

const char* name_of(const Outcome& outcome) { return std::visit(Name{}, outcome); }

std::string explain(const Outcome& outcome) { return std::visit(Explain{}, outcome); }

}  // namespace onelaunch::sandbox
