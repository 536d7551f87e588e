#include "tests/sandbox/emulator/ops/bench.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu::bench {
namespace {

constexpr std::size_t kRowBytes = 256;   // every register gets the room of a 64-bit row

struct alignas(64) Row {
  std::array<std::byte, kRowBytes> bytes{};
};

class Context : public DecodeContext {
 public:
  std::uint32_t constant32(std::uint32_t value) override { return splat(value); }
  std::uint32_t constant64(std::uint64_t value) override { return splat(value); }
  std::uint32_t constant_predicate(bool value) override { return splat(value ? ~0u : 0u); }
  std::uint32_t add_list(std::span<const std::uint32_t> operands) override {
    const std::size_t first = lists.size();
    lists.insert(lists.end(), operands.begin(), operands.end());
    return static_cast<std::uint32_t>(first);
  }

  std::vector<Row> constants;
  std::vector<std::uint32_t> lists;

 private:
  template <class T>
  std::uint32_t splat(T value) {
    Row row;
    for (std::size_t i = 0; i < 32; ++i) std::memcpy(row.bytes.data() + i * sizeof(T), &value, sizeof(T));
    constants.push_back(row);
    return static_cast<std::uint32_t>((constants.size() - 1) * kRowBytes) | kConstantBit;
  }
};

LoweredOperand::Kind kind_of(char kind) {
  if (kind == 'p') return LoweredOperand::Kind::predicate;
  return kind == 'd' ? LoweredOperand::Kind::row64 : LoweredOperand::Kind::row32;
}

std::string trimmed(std::string text) {
  while (!text.empty() && text.front() == ' ') text.erase(0, 1);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// Splits at `separator` outside braces.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == separator && depth == 0) parts.emplace_back();
    else parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

// Reads operands in order; `next` counts placeholders.
class OperandParser {
 public:
  explicit OperandParser(std::vector<LoweredOperand> registers) : registers_(std::move(registers)) {}

  LoweredOperand parse(const std::string& text) {
    LoweredOperand operand;
    if (text.front() == '{') return vector_of(split(text.substr(1, text.size() - 2), ','));
    if (const auto parts = split(text, '|'); parts.size() == 2) return vector_of(parts);
    if (text.front() == '!') {
      operand = parse(text.substr(1));
      operand.negated = true;
      return operand;
    }
    if (text.front() == '$') return registers_[next_++];
    if (text == "_") return operand;
    if (text.front() == '%') {
      operand.kind = LoweredOperand::Kind::special;
      operand.special = text;
      return operand;
    }
    operand.kind = LoweredOperand::Kind::row32;
    operand.constant = true;
    operand.value = static_cast<std::uint64_t>(std::stoll(text, nullptr, 0));
    return operand;
  }

 private:
  LoweredOperand vector_of(const std::vector<std::string>& parts) {
    LoweredOperand vector;
    vector.kind = LoweredOperand::Kind::vector;
    for (const std::string& part : parts) vector.elements.push_back(parse(part));
    return vector;
  }

  std::vector<LoweredOperand> registers_;
  std::size_t next_ = 0;
};

Result<DecodedOp> decode(const Instruction& instruction, std::vector<LoweredOperand> registers, Context& context,
                         ops::Level level) {
  const std::string& text = instruction.text();
  const std::size_t space = text.find(' ');
  const std::vector<std::string> words = split(text.substr(0, space), '.');
  LoweredInstruction lowered;
  lowered.opcode = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) lowered.modifiers.push_back(words[i]);
  OperandParser parser(std::move(registers));
  if (space != std::string::npos)
    for (const std::string& operand : split(text.substr(space + 1), ',')) lowered.operands.push_back(parser.parse(operand));
  for (const OpcodeRow& row : rows_of(level)) {
    if (row.opcode != lowered.opcode) continue;
    Modifiers modifiers(lowered.modifiers);
    Result<DecodedOp> op = row.factory(context, lowered, modifiers);
    if (op && !modifiers.left().empty()) return invalid("modifier ." + std::string(modifiers.left()[0]) + " is left");
    return op;
  }
  return invalid("no such opcode");
}

void write_register(Row& row, char kind, const std::vector<std::uint64_t>& lanes) {
  std::uint32_t predicate = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t word = lanes[i];
    const std::uint32_t narrow = kind == 'h' ? static_cast<std::uint16_t>(word) : static_cast<std::uint32_t>(word);
    if (kind == 'd') std::memcpy(row.bytes.data() + 8 * i, &word, 8);
    else if (kind == 'p') predicate |= static_cast<std::uint32_t>(word & 1) << i;
    else std::memcpy(row.bytes.data() + 4 * i, &narrow, 4);
  }
  if (kind == 'p') std::memcpy(row.bytes.data(), &predicate, 4);
}

std::vector<std::uint64_t> read_register(const Row& row, char kind) {
  std::vector<std::uint64_t> lanes(32);
  std::uint32_t predicate;
  std::memcpy(&predicate, row.bytes.data(), 4);
  for (std::size_t i = 0; i < 32; ++i) {
    std::uint32_t narrow;
    std::memcpy(&narrow, row.bytes.data() + 4 * i, 4);
    if (kind == 'd') std::memcpy(&lanes[i], row.bytes.data() + 8 * i, 8);
    else lanes[i] = kind == 'p' ? predicate >> i & 1u : narrow;
  }
  return lanes;
}

}  // namespace

Instruction::Instruction(std::string text) : text_(std::move(text)) {
  bool destination = true;
  int depth = 0;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '{') ++depth;
    if (text_[i] == '}') --depth;
    if (text_[i] == ',' && depth == 0) destination = false;
    if (text_[i] == '$') placeholders_.push_back({text_[i + 1], destination});
  }
}

std::string Instruction::opcode() const { return text_.substr(0, text_.find_first_of(". ")); }

std::size_t Instruction::sources() const {
  return static_cast<std::size_t>(
      std::count_if(placeholders_.begin(), placeholders_.end(), [](const Placeholder& p) { return !p.destination; }));
}

std::string Instruction::ptx(const std::string& prefix) const {
  std::string result;
  int next = 0;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] != '$') {
      result += text_[i];
      continue;
    }
    result += prefix + std::to_string(next++);
    ++i;
  }
  return result + ";";
}

WarpWords Bench::run(const WarpWords& sources, const RunOptions& options) {
  const std::vector<Placeholder>& placeholders = instruction_.placeholders();
  auto registers = std::make_unique<Row[]>(placeholders.size() + 1);
  std::vector<LoweredOperand> operands;
  std::size_t next_source = 0, first_destination = 0, first_source = instruction_.destinations();
  const bool shared = options.first_source_is_destination && first_source < placeholders.size() &&
                      placeholders[first_destination].kind == placeholders[first_source].kind;
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    const Placeholder& placeholder = placeholders[i];
    LoweredOperand operand;
    operand.kind = kind_of(placeholder.kind);
    std::size_t slot = shared && i == first_source ? first_destination : i;
    operand.offset = static_cast<std::uint32_t>(slot * kRowBytes);
    if (placeholder.destination) {
      write_register(registers[slot], placeholder.kind, std::vector<std::uint64_t>(32, options.before));
    } else {
      const std::vector<std::uint64_t>& lanes = sources[next_source++];
      write_register(registers[slot], placeholder.kind, lanes);
      const bool equal = std::all_of(lanes.begin(), lanes.end(), [&](std::uint64_t lane) { return lane == lanes[0]; });
      if (options.constants && equal && placeholder.kind != 'p') {
        operand.constant = true;
        operand.value = lanes[0];
      }
    }
    operands.push_back(operand);
  }
  Context context;
  const Result<DecodedOp> op = decode(instruction_, operands, context, options.level);
  if (!op) {
    error_ = op.error().message;
    return {};
  }
  op_ = *op;
  Warp warp;
  warp.registers = registers[0].bytes.data();
  warp.constants = context.constants.empty() ? nullptr : context.constants[0].bytes.data();
  warp.operands = context.lists.data();
  warp.live = ~0u;
  const OpFn compute = options.mask == ~0u ? op_.full : op_.masked;
  for (int i = 0; i < options.repeat; ++i) compute(warp, op_, options.mask);
  WarpWords results;
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    if (placeholders[i].destination) results.push_back(read_register(registers[i], placeholders[i].kind));
  return results;
}

std::span<const OpcodeRow> rows_of(ops::Level level) {
  return level == ops::Level::avx2 ? avx2::rows() : portable::rows();
}

std::vector<ops::Level> levels() {
  std::vector<ops::Level> result = {ops::Level::portable};
  if (ops::supported(ops::Level::avx2)) result.push_back(ops::Level::avx2);
  return result;
}

}  // namespace onelaunch::emu::bench
