#pragma once
// The decoded form that runs: immutable, shared by launches. Built by program/decode from a ptx::Module.
//
// Registers of one warp are one block of memory (see Layout): rows of 32 lanes, 4 or 8 bytes each, and predicates as
// 32-bit lane masks. Operands are byte offsets into that block; bit 31 selects the program's constant rows instead
// (immediates splatted over 32 lanes, same row forms). 16-bit values live zero-extended in 32-bit rows.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu {

struct Warp;      // exec/warp.h
struct DecodedOp;

// Executes one operation for the lanes in `mask` (never 0; already and-ed with the guard).
using OpFn = void (*)(Warp& warp, const DecodedOp& op, std::uint32_t mask);

constexpr std::uint32_t kConstantBit = 0x80000000u;
constexpr std::uint32_t kNoOperand = 0xffffffffu;

// What the run loop must do itself; everything else is a plain call of op.full or op.masked.
enum class Control : std::uint8_t {
  none,
  block,          // pseudo: head of basic block `extra`: counts runs
  reconverge,     // pseudo: head of a block that is the immediate post-dominator of some divergent branch
  branch,         // to pc `target`; guarded: conditional. imm: pc of the immediate post-dominator (kNoPc none); extra: 1 if .uni
  branch_indexed, // brx.idx: index row a, target pcs in operands [list, list + imm); target: pc of the immediate
                  // post-dominator (kNoPc none); extra: 1 if .uni
  exit,           // ret at entry level, or exit
  trap,
  block_barrier,  // bar/barrier .sync .arrive .red: extra holds a BarrierForm; a: id, b: thread count or kNoOperand, c: predicate; dst result
  warp_sync,      // bar.warp.sync: a = membermask
  warp_collective,// shfl vote match redux elect activemask-free ops with .sync: a waits until all lanes of `c`=membermask arrive, then op.full/masked runs
  cluster_barrier,
  poll,           // a load or atomic that may be what a loop spins on: runs op.masked, then the poll rules of exec/polls
  nanosleep,
  print,          // vprintf: a: row64 of the format's generic address, b: of the argument buffer's; dst: result or kNoOperand
};

// Classes for the performance model; a weight of 0 costs nothing on the GPU (mov, cvta).
enum class CostClass : std::uint8_t { free_op, alu, fma, mufu, load_store, tensor, branch, barrier };

struct DecodedOp {
  OpFn full = nullptr;          // all 32 lanes, may ignore mask
  OpFn masked = nullptr;
  std::uint32_t dst = kNoOperand, a = kNoOperand, b = kNoOperand, c = kNoOperand;
  std::uint64_t imm = 0;        // address offset, lop3 table, ...
  std::uint32_t extra = 0;      // op specific
  std::uint32_t list = 0;       // first of the operands that do not fit, in Program::operands (vectors, mma)
  std::uint32_t guard = kNoOperand;  // byte offset of the guard's lane mask
  std::uint32_t target = 0;     // pc of a branch
  std::uint32_t site = 0;       // index into Program::sites
  bool guard_negated = false;
  Control control = Control::none;
  CostClass cost = CostClass::alu;
  std::uint8_t bytes = 0;       // of one lane's memory access, all vector elements
};
constexpr std::uint32_t kNoPc = 0xffffffffu;

struct Site {                   // where an operation comes from, for reports
  int ptx_line = 0;
  int location = -1;            // index into Program::module->locations
  std::string opcode;           // "ld.global.nc.v4.u32"
};

struct Layout {                 // of one warp's registers
  std::uint32_t bytes = 0;      // rows and predicates, a multiple of 64
};

struct BasicBlock {
  std::uint32_t first = 0, count = 0;       // of real operations, without pseudo ones
  std::uint32_t classes[8] = {};            // static count by CostClass
};

// One kernel, ready to run.
struct Program {
  std::shared_ptr<const ptx::Module> module;
  std::string name;
  std::vector<DecodedOp> ops;
  std::vector<std::uint32_t> operands;      // see DecodedOp::list
  std::vector<Site> sites;
  std::vector<BasicBlock> blocks;
  std::vector<std::byte> constants;         // constant rows; align the copy used at run time to 64 bytes
  Layout layout;
  std::uint32_t param_bytes = 0;
  std::uint32_t shared_static_bytes = 0;    // offsets of static shared variables start at kSharedStart
  std::uint32_t local_bytes = 0;            // per thread
  int threads_max = 0;
  int blocks_per_sm_min = 0;
  int cluster_blocks = 0;                   // declared; 0: none
  // Addresses of module variables (.global, .const) are assigned at load: see LoadedModule.
};

// Windows of the generic address space. Global and constant addresses are host addresses.
constexpr std::uint64_t kSharedWindow = 0x0100ull << 48;
constexpr std::uint64_t kLocalWindow = 0x0200ull << 48;
constexpr std::uint64_t kParamWindow = 0x0300ull << 48;
constexpr std::uint32_t kSharedStart = 1024;  // offset of the first shared byte, as on sm_90

// Host addresses of .global and .const variables, by name.
using SymbolAddresses = std::map<std::string, std::uint64_t>;

// Decodes the entry `name`. Fails (invalid_input) naming opcode, modifier and PTX line of what is not implemented.
Result<std::shared_ptr<const Program>> decode(std::shared_ptr<const ptx::Module> module, const std::string& name,
                                              const SymbolAddresses& symbols);

}  // namespace onelaunch::emu
