#include "sandbox/host/sass.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>

#include "sandbox/host/sass_loops.h"

namespace onelaunch::sandbox {
namespace {

constexpr std::size_t kLoopsShown = 4;
constexpr double kTurnsGuessed = 8;       // of a loop, to rank nested ones

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// The function that this line begins: "Function : name", ".text.name:".
std::string_view function_begun(std::string_view line) {
  constexpr std::string_view kDump = "Function :", kSection = ".text.";
  if (line.starts_with(kDump)) return trimmed(line.substr(kDump.size()));
  if (line.starts_with(kSection) && line.ends_with(':')) return line.substr(kSection.size(), line.size() - kSection.size() - 1);
  return {};
}

// "/*01a0*/  @!P0 BRA 0x120 ;" to its parts; nothing for other lines, such as those with the encoding.
bool parse_instruction(std::string_view line, SassInstruction& instruction) {
  if (!line.starts_with("/*")) return false;
  const std::size_t end = line.find("*/");
  if (end == std::string_view::npos) return false;
  const std::string_view address = line.substr(2, end - 2);
  const auto parsed = std::from_chars(address.data(), address.data() + address.size(), instruction.address, 16);
  if (address.empty() || parsed.ptr != address.data() + address.size()) return false;
  std::string_view rest = trimmed(line.substr(end + 2));
  while (rest.starts_with("{") || rest.starts_with("}")) rest = trimmed(rest.substr(1));
  rest = trimmed(rest.substr(0, rest.find(';')));
  if (rest.empty() || rest.starts_with("/*")) return false;
  if (rest.front() == '@') {
    instruction.predicated = true;
    const std::size_t blank = rest.find_first_of(" \t");
    if (blank == std::string_view::npos) return false;
    rest = trimmed(rest.substr(blank));
  }
  const std::size_t blank = std::min(rest.find_first_of(" \t"), rest.size());
  instruction.opcode = std::string(rest.substr(0, blank));
  instruction.operands = std::string(trimmed(rest.substr(blank)));
  return true;
}

// Where a branch goes, as written: "`(.L_x_3)" or "0x120", the last operand.
std::string_view target_text(const std::string& operands) {
  const std::size_t comma = operands.rfind(',');
  std::string_view last = trimmed(comma == std::string::npos ? std::string_view(operands) : std::string_view(operands).substr(comma + 1));
  if (last.starts_with("`(")) last = last.substr(2, last.find(')') == std::string_view::npos ? last.size() : last.find(')') - 2);
  return last;
}

bool takes_a_target(const std::string& name) { return name == "BRA" || name == "JMP" || name == "BSSY" || name == "CALL" || name == "SSY"; }

// Of one function, while its lines are read.
struct FunctionText {
  std::vector<SassInstruction> instructions;
  std::map<std::string, std::size_t, std::less<>> labels;  // to the index of the next instruction

  void resolve() {
    std::map<std::uint64_t, std::size_t> by_address;
    for (std::size_t i = 0; i < instructions.size(); ++i) by_address[instructions[i].address] = i;
    for (SassInstruction& instruction : instructions) {
      if (!takes_a_target(sass_class(instruction.opcode))) continue;
      const std::string_view text = target_text(instruction.operands);
      if (const auto label = labels.find(text); label != labels.end() && label->second < instructions.size())
        instruction.target = static_cast<std::int64_t>(label->second);
      std::uint64_t address = 0;
      if (!text.starts_with("0x")) continue;
      std::from_chars(text.data() + 2, text.data() + text.size(), address, 16);
      if (const auto at = by_address.find(address); at != by_address.end()) instruction.target = static_cast<std::int64_t>(at->second);
    }
  }
};

void count(const SassInstruction& instruction, std::map<std::string, std::uint64_t>& classes, std::map<std::string, std::uint64_t>& pipes) {
  const std::string name = sass_class(instruction.opcode);
  ++classes[name];
  ++pipes[sass_pipe(name)];
}

SassReport::Loop loop_of(const SassLoop& found, const std::vector<SassInstruction>& code) {
  SassReport::Loop loop;
  char place[64];
  std::snprintf(place, sizeof place, "0x%llx..0x%llx", static_cast<unsigned long long>(code[found.first].address),
                static_cast<unsigned long long>(code[found.last].address));
  loop.place = place;
  loop.depth = found.depth;
  loop.instructions = found.own.size();
  for (const std::size_t i : found.own) count(code[i], loop.classes, loop.pipes);
  return loop;
}

double heat(const SassLoop& loop) {
  double heat = static_cast<double>(loop.own.size());
  for (int i = 1; i < loop.depth; ++i) heat *= kTurnsGuessed;
  return heat;
}

}  // namespace

std::vector<SassInstruction> parse_sass(std::string_view text, const std::string& function) {
  FunctionText found;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (const std::string_view name = function_begun(line); !name.empty()) {
      if (inside && name != function) break;
      inside = name == function;
      continue;
    }
    if (!inside) continue;
    if (line.starts_with(".L") && line.ends_with(':')) found.labels[std::string(line.substr(0, line.size() - 1))] = found.instructions.size();
    SassInstruction instruction;
    if (parse_instruction(line, instruction)) found.instructions.push_back(std::move(instruction));
  }
  found.resolve();
  return std::move(found.instructions);
}

std::string sass_class(const std::string& opcode) { return opcode.substr(0, opcode.find('.')); }

const char* sass_pipe(const std::string& name) {
  static constexpr struct { const char* pipe; std::string_view names; } kTable[] = {
      {"memory", " LD LDG LDS LDL LDC LDSM LDGSTS LDGDEPBAR LDTRAM ST STG STS STL STSM STAS ATOM ATOMG ATOMS RED REDG REDAS SHFL MEMBAR CCTL "
                 "CCTLL ERRBAR TEX TLD SULD SUST MATCH UBLKCP UBLKPF UBLKRED UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH SYNCS "
                 "QSPC MAPA FENCE ARRIVES "},
      {"fma", " FFMA FFMA2 FADD FADD2 FMUL FMUL2 FADD32I FMUL32I FFMA32I IMAD IMUL IDP IDP4A XMAD HFMA2 HADD2 HMUL2 HFMA2_MMA DFMA DADD DMUL "},
      {"tensor", " HMMA IMMA BMMA DMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA UTCHMMA UTCIMMA UTCQMMA WARPGROUP WARPGROUPSET GMMA MOVM "},
      {"special", " MUFU I2F I2FP F2I F2F FRND POPC FLO BREV "},
      {"control", " BRA BRX BRXU JMP JMX CALL RET EXIT BSSY BSYNC BREAK BMOV BPT KILL NOP YIELD NANOSLEEP WARPSYNC DEPBAR BAR BARS RPCMOV PREEXIT "
                  "ACQBULK ELECT UCGABAR_ARV UCGABAR_WAIT CGAERRBAR ENDCOLLECTIVE PMTRIG ACQSHMINIT USETMAXREG PEXIT ISOLATE "},
      {"alu", " IADD IADD3 IADD3X IADD32I IABS LEA LOP LOP3 LOP32I PLOP3 SHF SHL SHR SEL FSEL ISETP FSETP FSET FMNMX FMNMX3 IMNMX VIMNMX VIMNMX3 "
              "VIADD VIADDMNMX PRMT MOV MOV32I SGXT BMSK BFE BFI ICMP FCHK F2FP I2IP F2IP HSETP2 HSET2 HMNMX2 VHMNMX VABSDIFF VABSDIFF4 P2R R2P CSET "
              "CSETP PSET PSETP VOTE ISCADD LOP3X DSETP "},
      {"other", " S2R CS2R B2R R2B GETLMEMBASE SETLMEMBASE LEPC NONE CREDUX REDUX "},
  };
  const std::string word = " " + name + " ";
  for (const auto& row : kTable)
    if (row.names.find(word) != std::string_view::npos) return row.pipe;
  return name.starts_with("U") || name == "R2UR" || name == "S2UR" || name == "VOTEU" ? "uniform" : "other";
}

SassReport sass_report(std::string_view text, const std::string& function) {
  SassReport report;
  const std::vector<SassInstruction> code = parse_sass(text, function);
  if (code.empty()) report.problem = "the disassembly has no instructions of " + function;
  report.instructions = code.size();
  for (const SassInstruction& instruction : code) count(instruction, report.classes, report.pipes);
  std::vector<SassLoop> loops = find_loops(code);
  std::ranges::stable_sort(loops, [](const SassLoop& a, const SassLoop& b) { return heat(a) > heat(b); });
  for (std::size_t i = 0; i < std::min(loops.size(), kLoopsShown); ++i) report.loops.push_back(loop_of(loops[i], code));
  return report;
}

}  // namespace onelaunch::sandbox
