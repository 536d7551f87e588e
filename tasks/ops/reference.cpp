#include "tasks/ops/op.h"

namespace onelaunch::tasks {
namespace {

const char* kind_of(Parameter::Is is) {
  switch (is) {
    case Parameter::Is::value:
      return "";
    case Parameter::Is::weight:
      return " (weight)";
    case Parameter::Is::int4_weight:
      return " (int4 weight)";
    case Parameter::Is::state:
      return " (state)";
    case Parameter::Is::cache:
      return " (cache)";
  }
  return "";
}

std::string list(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters)
    text += (text.empty() ? "" : ", ") + std::string("`") + p.name + "`" + kind_of(p.is);
  return text;
}

}  // namespace

std::string op_reference() {
  std::string text =
      "# Op kinds\n\n"
      "What `ops` of a task file may use. Vectors have one dimension. Results are rounded to the op's `round`; states "
      "are\n"
      "rounded to their own dtype; sums inside an op are not rounded. A state among the outputs is updated in place.\n";
  for (const OpKind& kind : op_kinds()) {
    text += "\n## " + std::string(kind.name) + "\n\n" + list(kind.inputs) + " → " + list(kind.outputs) + "\n\n" +
            kind.documentation + ".\n";
    if (!kind.attributes.empty()) text += "\n";
    for (const Attribute& a : kind.attributes)
      text += "- `" + std::string(a.name) + "`" + (a.required ? "" : " (optional)") + ": " + a.documentation + "\n";
  }
  return text;
}

}  // namespace onelaunch::tasks
