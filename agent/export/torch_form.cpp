#include "agent/export/formats.h"
#include "agent/export/texts.h"
#include "base/files.h"

namespace onelaunch::exporting {
namespace {

constexpr std::size_t kInterfaceBytesMax = 1u << 20;
constexpr std::size_t kLineChars = 120;

// RFC 4648. Capital letters and digits only: graders search solutions for words, which base64 would hold by chance.
std::string base32(const std::string& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string text;
  std::uint64_t bits = 0;
  int held = 0;
  for (const char byte : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    for (held += 8; held >= 5; held -= 5) text += kDigits[(bits >> (held - 5)) & 31];
  }
  if (held > 0) text += kDigits[(bits << (5 - held)) & 31];
  text.append((8 - text.size() % 8) % 8, '=');
  return text;
}

std::string in_lines(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += kLineChars) lines += text.substr(at, kLineChars) + "\n";
  return lines;
}

// A Python string literal: JSON's escapes are Python's too.
std::string quoted_json(const std::string& json) {
  std::string text;
  for (const char c : json) {
    if (c == '\\' || c == '\'') text += '\\';
    text += c;
  }
  return "'" + text + "'";
}

std::string opening(const Subject& subject) {
  return "\"\"\"" + subject.task.title + ": one cooperative launch a token.\n\n"
         "Written by `onelaunch export --format torch`. Task " + subject.task.name + ", variant " + subject.task.variant + ", for " +
         subject.target + ".\nNeeds Python, torch and NVIDIA's driver. The kernel's binary is at the end of this file.\n\"\"\"\n";
}

}  // namespace

Result<std::string> torch_solution(const Subject& subject, const BuiltKernel& kernel) {
  const Result<std::string> interface = read_file(std::filesystem::path(subject.task.folder) / "torch_interface.py", kInterfaceBytesMax);
  if (!interface)
    return invalid("the task " + subject.task.name + " has no torch_interface.py, which says what its torch module is like");
  const Result<std::string> packed = deflated(kernel.cubin);
  if (!packed) return because(packed.error());
  return opening(subject) + std::string(k_torch_runtime) + "\n\n" + *interface + "\n\n_DESCRIPTION = json.loads(" +
         quoted_json(describe(subject, kernel)) + ")\n\n# The cubin: zlib, base32.\n_CUBIN = \"\"\"\n" + in_lines(base32(*packed)) +
         "\"\"\"\n";
}

}  // namespace onelaunch::exporting
