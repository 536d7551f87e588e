#include "tasks/parse_context.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

namespace onelaunch::tasks {
namespace {

constexpr int kEntriesMax = 20000;  // after repetition

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string list_of(std::initializer_list<const char*> words) {
  std::string list;
  for (const char* word : words) list += (list.empty() ? "" : ", ") + std::string(word);
  return list;
}

}  // namespace

std::string closest(const std::string& word, std::initializer_list<const char*> known) {
  std::string best;
  std::size_t distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const char* candidate : known) {
    const std::size_t d = edit_distance(word, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

bool is_identifier(std::string_view word) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto inner = [&](char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !word.empty() && letter(word.front()) && std::all_of(word.begin(), word.end(), inner);
}

void ParseContext::complain(int line, const std::string& what, const std::string& rule, const std::string& fix) {
  if (first_) return;
  first_ = Error{Error::Kind::invalid_input,
                 file_ + ":" + std::to_string(line) + ": " + what + ". Rule: " + rule + ". Fix: " + fix + "."};
}

bool ParseContext::is(const JsonNode& node, JsonNode::Kind kind, const std::string& what) {
  if (node.kind == kind) return true;
  complain(node.line, what + " is " + describe(node.kind), what + " is " + describe(kind),
           std::string("write ") + describe(kind) + " here");
  return false;
}

bool ParseContext::object_of(const JsonNode& node, const std::string& owner, std::initializer_list<const char*> known) {
  if (!is(node, JsonNode::Kind::object, owner)) return false;
  for (const JsonMember& member : node.members) {
    const auto same = [&](const char* field) { return member.key == field; };
    if (std::any_of(known.begin(), known.end(), same)) continue;
    const std::string meant = closest(member.key, known);
    complain(member.line, "unknown field \"" + member.key + "\" in " + owner,
             owner + " has only the fields " + list_of(known),
             meant.empty() ? "remove it" : "did you mean \"" + meant + "\"?");
    return false;
  }
  return true;
}

const JsonNode* ParseContext::required(const JsonNode& object, const std::string& owner, const char* field) {
  if (const JsonMember* member = object.find(field)) return &member->value;
  complain(object.line, owner + " lacks the field \"" + field + "\"",
           "\"" + std::string(field) + "\" is required in " + owner, "add it");
  return nullptr;
}

std::string ParseContext::text(const JsonNode& node, const std::string& what) {
  return is(node, JsonNode::Kind::string, what) ? node.text : std::string();
}

std::string ParseContext::paragraph(const JsonNode& node, const std::string& what) {
  if (node.kind != JsonNode::Kind::array) return text(node, what);
  std::string joined;
  for (const JsonNode& line : node.items) joined += (joined.empty() ? "" : "\n") + text(line, "a line of " + what);
  return joined;
}

std::string ParseContext::name(const JsonNode& node, const Names& names, const std::string& what) {
  const Result<std::string> name = substitute(text(node, what), names);
  if (name) return *name;
  complain(node.line, what + " \"" + node.text + "\" cannot be filled in: " + name.error().message,
           "braces hold an expression over dims and indices", "correct the expression");
  return {};
}

std::int64_t ParseContext::integer(const JsonNode& node, const Names& names, const std::string& what) {
  if (node.kind == JsonNode::Kind::integer) return node.integer;
  if (node.kind != JsonNode::Kind::string) {
    complain(node.line, what + " is " + describe(node.kind),
             what + " is an integer or a string with an expression over dims", "write one of the two");
    return 1;
  }
  const Result<std::int64_t> value = evaluate(node.text, names);
  if (value) return *value;
  complain(
      node.line, what + " cannot be computed: " + value.error().message,
      "expressions have integers, dims, indices of an enclosing \"for\", + - * / and parentheses, and divide evenly",
      "correct the expression");
  return 1;
}

double ParseContext::number(const JsonNode& node, const std::string& what) {
  const bool numeric = node.kind == JsonNode::Kind::integer || node.kind == JsonNode::Kind::number;
  if (!numeric) complain(node.line, what + " is " + describe(node.kind), what + " is a number", "write a number");
  return numeric ? node.number : 0;
}

void ParseContext::entries(const JsonNode& list, const Names& names, const std::string& what, const Each& each) {
  if (!is(list, JsonNode::Kind::array, what)) return;
  for (const JsonNode& entry : list.items) {
    if (failed()) return;
    if (entry.kind == JsonNode::Kind::object && entry.find("for") != nullptr) {
      if (object_of(entry, "a repetition", {"for", "each"})) repeat(entry, 0, names, what, each);
    } else if (++entries_ > kEntriesMax) {
      complain(entry.line, "more than 20000 entries after repetition", "a task has at most 20000 tensors and ops",
               "repeat less");
    } else {
      each(entry, names);
    }
  }
}

// Binds index number `index` of the "for" to each of its values, then the ones after it.
void ParseContext::repeat(const JsonNode& entry, std::size_t index, const Names& names, const std::string& what,
                          const Each& each) {
  const JsonNode& loops = entry.find("for")->value;
  if (!is(loops, JsonNode::Kind::object, "\"for\"")) return;
  if (index == loops.members.size()) {
    const JsonNode* body = required(entry, "a repetition", "each");
    if (body != nullptr) entries(*body, names, what, each);
    return;
  }
  const JsonMember& loop = loops.members[index];
  if (!is_identifier(loop.key) || names.contains(loop.key))
    return complain(loop.line, "\"" + loop.key + "\" cannot be an index",
                    "an index is an identifier that is no dim and no index of an enclosing \"for\"",
                    "choose another name");
  const std::int64_t end = integer(loop.value, names, "the end of \"" + loop.key + "\"");
  for (std::int64_t i = 0; i < end && !failed(); ++i) {
    if (++entries_ > kEntriesMax)
      return complain(loop.line, "more than 20000 entries after repetition", "a task has at most 20000 tensors and ops",
                      "repeat less");
    Names inner = names;
    inner[loop.key] = i;
    repeat(entry, index + 1, inner, what, each);
  }
}

}  // namespace onelaunch::tasks
