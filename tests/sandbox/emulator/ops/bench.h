#pragma once
// A bench for single instructions: PTX text in which `$w`, `$d`, `$h` and `$p` stand for registers (32, 64, 16 bits,
// predicate), destinations first, is decoded and run over warps of operand words.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sandbox/emulator/ops/levels.h"

namespace onelaunch::emu::bench {

// One placeholder: its kind ('w', 'd', 'h' or 'p').
struct Placeholder {
  char kind;
  bool destination;
};

// "setp.lt.and.f32 $p|$p, $w, $w, !$p": what stands before the first comma is written, the rest is read.
class Instruction {
 public:
  explicit Instruction(std::string text);
  const std::string& text() const { return text_; }
  std::string opcode() const;                        // "setp"
  const std::vector<Placeholder>& placeholders() const { return placeholders_; }
  std::size_t sources() const;
  std::size_t destinations() const { return placeholders_.size() - sources(); }
  // As PTX, with placeholder i named `prefix` + i.
  std::string ptx(const std::string& prefix) const;

 private:
  std::string text_;
  std::vector<Placeholder> placeholders_;
};

// Words of a warp: [placeholder of that sort][lane], each in the low bits of 64.
using WarpWords = std::vector<std::vector<std::uint64_t>>;

struct RunOptions {
  ops::Level level = ops::Level::portable;
  std::uint32_t mask = 0xffffffffu;
  bool first_source_is_destination = false;  // they share a register, if they are of one kind
  bool constants = false;                    // sources whose 32 lanes are equal become immediates
  std::uint64_t before = 0;                  // what destinations hold before
  int repeat = 1;
};

// A decoded instruction that can be run many times.
class Bench {
 public:
  explicit Bench(const Instruction& instruction) : instruction_(instruction) {}
  // Destination words after running; an empty result means that decoding failed, see error().
  WarpWords run(const WarpWords& sources, const RunOptions& options);
  const std::string& error() const { return error_; }
  const DecodedOp& op() const { return op_; }
  const std::string& fault() const { return fault_; }

 private:
  Instruction instruction_;
  std::string error_, fault_;
  DecodedOp op_;
};

std::span<const OpcodeRow> rows_of(ops::Level level);
std::vector<ops::Level> levels();  // that this processor supports

}  // namespace onelaunch::emu::bench
