// A tool, not a test: writes every case as a PTX kernel with its operands, and judges the emulator by the words that
// a GPU gave for them.
//   gpu_words emit FOLDER      cases.ptx, inputs-KINDS.bin, manifest.txt
//   gpu_words judge FOLDER     reads outputs.bin; prints differences; writes recorded_words.inc

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "tests/sandbox/emulator/ops/cases.h"
#include "tests/sandbox/emulator/ops/operand_words.h"
#include "tests/sandbox/emulator/ops/recorded.h"

namespace onelaunch::emu::bench {
namespace {

std::string kinds_of(const Instruction& instruction) {
  std::string kinds;
  for (const Placeholder& p : instruction.placeholders())
    if (!p.destination) kinds += p.kind;
  return kinds;
}

std::string register_name(std::size_t i) { return std::string("x").append(std::to_string(i)); }

std::string read_source(const std::string& name, char kind, std::size_t source) {
  const std::string at = "[%in+" + std::to_string(source * kThreads * 8) + "]";
  if (kind == 'd') return "  ld.global.b64 " + name + ", " + at + ";\n";
  if (kind == 'h') return "  ld.global.b16 " + name + ", " + at + ";\n";
  if (kind == 'p')
    return "  ld.global.b32 %t, " + at + ";\n  and.b32 %t, %t, 1;\n  setp.ne.u32 " + name + ", %t, 0;\n";
  return "  ld.global.b32 " + name + ", " + at + ";\n";
}

std::string write_destination(const std::string& name, char kind, std::size_t destination) {
  const std::string at = "[%out+" + std::to_string(destination * kThreads * 8) + "]";
  if (kind == 'd') return "  st.global.b64 " + at + ", " + name + ";\n";
  std::string text;
  if (kind == 'h') text = "  cvt.u64.u16 %v, " + name + ";\n";
  else if (kind == 'p') text = "  selp.b64 %v, 1, 0, " + name + ";\n";
  else text = "  cvt.u64.u32 %v, " + name + ";\n";
  return text + "  st.global.b64 " + at + ", %v;\n";
}

std::string kernel(const Instruction& instruction, std::size_t index) {
  const std::map<char, std::string> types = {{'w', "b32"}, {'d', "b64"}, {'h', "b16"}, {'p', "pred"}};
  std::string text = "// " + instruction.text() + "\n.visible .entry case" + std::to_string(index) +
                     "(.param .b64 in, .param .b64 out)\n{\n  .reg .b64 %in, %out, %v, %o;\n  .reg .b32 %t;\n";
  const auto& placeholders = instruction.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    text += "  .reg ." + types.at(placeholders[i].kind) + " " + register_name(i) + ";\n";
  text += "  ld.param.b64 %in, [in];\n  ld.param.b64 %out, [out];\n  mov.u32 %t, %ctaid.x;\n  shl.b32 %t, %t, 7;\n"
          "  cvt.u64.u32 %o, %t;\n  mov.u32 %t, %tid.x;\n  cvt.u64.u32 %v, %t;\n  add.u64 %o, %o, %v;\n"
          "  shl.b64 %o, %o, 3;\n  add.u64 %in, %in, %o;\n  add.u64 %out, %out, %o;\n";
  std::size_t source = 0, destination = 0;
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    if (!placeholders[i].destination) text += read_source(register_name(i), placeholders[i].kind, source++);
  text += "  " + instruction.ptx("x") + "\n";
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    if (placeholders[i].destination)
      text += write_destination(register_name(i), placeholders[i].kind, destination++);
  return text + "  ret;\n}\n";
}

void emit(const std::string& folder, const std::set<std::string>& without) {
  std::ofstream ptx(folder + "/cases.ptx"), manifest(folder + "/manifest.txt");
  ptx << ".version 8.6\n.target sm_90a\n.address_size 64\n";
  std::set<std::string> written;
  std::size_t index = 0;
  for (const Case& one : all_cases()) {
    const Instruction instruction(one.instruction);
    const std::size_t number = index++;
    if (without.contains(one.instruction)) continue;
    ptx << kernel(instruction, number);
    const std::string kinds =
        instruction.opcode() == "mma" ? std::string("mma").append(std::to_string(number)) : kinds_of(instruction);
    manifest << number << " " << (kinds.empty() ? "-" : kinds) << " " << instruction.sources() << " "
             << instruction.destinations() << "\n";
    if (!written.insert(kinds).second) continue;
    std::ofstream inputs(folder + "/inputs-" + (kinds.empty() ? "-" : kinds) + ".bin", std::ios::binary);
    for (const auto& words : operand_words(instruction))
      inputs.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 8));
  }
}

struct Difference {
  std::size_t count = 0, first = 0, destination = 0;
  double ulps = 0;
};

void print_difference(const Case& one, const Instruction& instruction, const Difference& difference,
                      const WarpWords& gpu, const WarpWords& emulated) {
  std::printf("%-58s %5zu differ", one.instruction.c_str(), difference.count);
  if (one.ulps > 0) std::printf(" up to %.3g ulp", difference.ulps);
  const WarpWords inputs = operand_words(instruction);
  std::printf("; thread %zu:", difference.first);
  for (const auto& words : inputs) std::printf(" %llx", static_cast<unsigned long long>(words[difference.first]));
  std::printf(" -> gpu %llx, emulated %llx\n",
              static_cast<unsigned long long>(gpu[difference.destination][difference.first]),
              static_cast<unsigned long long>(emulated[difference.destination][difference.first]));
}

// In units of the last place; of the worse half of packed numbers.
double distance_of(const Case& one, u64 a, u64 b) {
  if (one.instruction.find("x2 ") == std::string::npos) return std::fabs(static_cast<double>(a) - static_cast<double>(b));
  const auto half = [](u64 word, int shift) { return static_cast<double>(word >> shift & 0xffff); };
  return std::max(std::fabs(half(a, 0) - half(b, 0)), std::fabs(half(a, 16) - half(b, 16)));
}

Difference compare(const Case& one, const WarpWords& gpu, const WarpWords& emulated) {
  Difference result;
  for (std::size_t d = 0; d < gpu.size(); ++d)
    for (std::size_t i = 0; i < kThreads; ++i) {
      if (gpu[d][i] == emulated[d][i]) continue;
      const double distance = distance_of(one, gpu[d][i], emulated[d][i]);
      if (one.ulps > 0 && distance <= one.ulps) continue;
      if (result.count++ == 0 || (one.ulps > 0 && distance > result.ulps)) {
        result.first = i;
        result.destination = d;
      }
      result.ulps = std::max(result.ulps, distance);
    }
  return result;
}

int judge(const std::string& folder) {
  std::ifstream manifest(folder + "/manifest.txt"), outputs(folder + "/outputs.bin", std::ios::binary);
  std::ofstream recorded(folder + "/recorded_words.inc");
  const std::vector<Case> cases = all_cases();
  std::size_t number, sources, destinations, bad = 0;
  std::string kinds;
  while (manifest >> number >> kinds >> sources >> destinations) {
    const Case& one = cases[number];
    WarpWords gpu(destinations, std::vector<u64>(kThreads));
    for (auto& words : gpu) outputs.read(reinterpret_cast<char*>(words.data()), kThreads * 8);
    if (!outputs) return 1;
    const Instruction instruction(one.instruction);
    const WarpWords emulated = emulated_words(instruction, ops::Level::avx2);
    if (emulated.empty()) {
      std::printf("%-58s is not decoded\n", one.instruction.c_str());
      continue;
    }
    if (one.ulps == 0)
      recorded << "{\"" << one.instruction << "\", 0x" << std::hex << hash_of(gpu) << std::dec << "u},\n";
    const Difference difference = compare(one, gpu, emulated);
    bad += difference.count != 0;
    if (difference.count != 0) print_difference(one, instruction, difference, gpu, emulated);
  }
  std::printf("%zu cases, %zu differ\n", cases.size(), bad);
  return 0;
}

}  // namespace
}  // namespace onelaunch::emu::bench

int main(int count, char** arguments) {
  using namespace onelaunch::emu::bench;
  if (count < 3) return 2;
  const std::string command = arguments[1];
  if (command == "emit") {
    std::set<std::string> without;
    for (int i = 3; i < count; ++i) without.insert(arguments[i]);
    emit(arguments[2], without);
    return 0;
  }
  return judge(arguments[2]);
}
