#include <cstdio>

#include "agent/export/formats.h"
#include "agent/export/texts.h"
#include "tasks/header.h"

namespace onelaunch::exporting {
namespace {

constexpr std::size_t kWord = 8;

std::string define(const std::string& name, std::uint64_t value) {
  return "#define " + name + " " + std::to_string(value) + "ull\n";
}

std::string word(std::size_t offset) { return std::to_string(offset / kWord); }

const char* element_name(tasks::DType dtype) {
  switch (dtype) {
    case tasks::DType::f32: return "kF32";
    case tasks::DType::bf16: return "kBf16";
    case tasks::DType::u8: return "kU8";
    case tasks::DType::i32: break;
  }
  return "kI32";
}

std::string tensor_row(const tasks::Tensor& tensor, const tasks::ArgsLayout& args, const tasks::ArgsLayout& prepare) {
  const auto in_prepare = prepare.pointers.find(tensor.name);
  // Of a cache, the bytes of a row.
  return "  {\"" + tensor.name + "\", " + element_name(tensor.dtype) + ", " + (tensor.is_cache() ? "1" : "0") + ", " +
         std::to_string(tensor.bytes(1)) + "ull, " + word(args.pointers.at(tensor.name)) + ", " +
         (in_prepare == prepare.pointers.end() ? "-1" : word(in_prepare->second)) + "},\n";
}

std::string shape_row(const std::string& name, std::uint64_t grid, std::uint64_t block, std::uint64_t smem, std::uint64_t cluster) {
  constexpr std::uint64_t kPerSm = sandbox::LaunchDeclaration::kPerSm;
  return "{\"" + name + "\", " + std::to_string(grid & (kPerSm - 1)) + ", " + (grid & kPerSm ? "1" : "0") + ", " +
         std::to_string(block) + ", " + std::to_string(smem) + ", " + std::to_string(cluster) + "}";
}

std::string types() {
  return "enum element { kU8, kBf16, kF32, kI32, kElements };\n"
         "struct tensor {\n  const char* name;\n  enum element element;\n  int is_cache;      /* then `bytes` are those of a row */\n"
         "  unsigned long long bytes;\n  int word, prepare_word; /* of the arguments; -1: none */\n};\n"
         "struct shape {\n  const char* name;\n  unsigned grid, per_sm, block, dynamic_smem, cluster;\n};\n\n";
}

std::string sizes(const BuiltKernel& kernel, const tasks::ArgsLayout& args, const tasks::ArgsLayout& prepare) {
  return define("kPreparedBytes", kernel.launch.prepared_bytes) + define("kSyncBytes", kernel.launch.sync_bytes) +
         define("kScratchBytes", kernel.launch.scratch_bytes) + "\n/* The arguments are words of 8 bytes. */\n" +
         define("kArgWords", args.bytes / kWord) + define("kWordPosition", args.position / kWord) +
         define("kWordCapacity", args.cache_capacity / kWord) + define("kWordEpoch", args.epoch / kWord) +
         define("kWordPrepared", args.prepared / kWord) + define("kWordSync", args.sync / kWord) +
         define("kWordScratch", args.scratch / kWord) + define("kPrepareArgWords", prepare.bytes / kWord) +
         define("kPrepareWordPrepared", prepare.prepared / kWord) + "\n";
}

std::string kernel_data(const Subject& subject, const BuiltKernel& kernel) {
  const tasks::ArgsLayout args = tasks::args_layout(subject.task), prepare = tasks::prepare_args_layout(subject.task);
  std::string text = "/* Generated: what launcher.c needs to know of kernel.cubin. Task " + subject.task.name + ", variant " +
                     subject.task.variant + ", for " + subject.target + ". */\n" + types() + sizes(kernel, args, prepare);
  text += "static const struct shape k_megakernel = " +
          shape_row("megakernel", kernel.launch.grid, kernel.launch.block, kernel.launch.dynamic_smem, kernel.launch.cluster) + ";\n";
  text += "/* Once a weight set, in this order, before any token. */\n";
  text += "enum { kPrepares = " + std::to_string(kernel.prepares.size()) + " };\nstatic const struct shape k_prepares[kPrepares + 1] = {\n";
  for (const auto& declared : kernel.prepares)
    text += "  " + shape_row(declared.name, declared.grid, declared.block, declared.dynamic_smem, 1) + ",\n";
  text += "  {0, 0, 0, 0, 0, 0}};\n\nenum { kTensors = " + std::to_string(subject.task.tensors.size()) +
          " };\nstatic const struct tensor k_tensors[kTensors] = {\n";
  for (const tasks::Tensor& tensor : subject.task.tensors) text += tensor_row(tensor, args, prepare);
  return text + "};\n";
}

std::string readme(const Subject& subject) {
  return "# The megakernel of " + subject.task.name + ", as a binary\n\n"
         "    make\n    ./launcher                      # kernel.cubin, 2048 cached rows\n    ./launcher kernel.cubin 16384\n\n"
         "kernel.cubin runs on " + subject.target + " alone. launcher.c shows how to launch it through the driver and prints the\n"
         "time per token; it needs a C compiler and NVIDIA's driver, nothing of the CUDA Toolkit. kernel_data.h lists all\n"
         "tensors and where the arguments keep their addresses. Values are made up: the launcher does not check results.\n";
}

}  // namespace

Files cubin_files(const Subject& subject, const BuiltKernel& kernel) {
  return {{"kernel.cubin", kernel.cubin},
          {"kernel_data.h", kernel_data(subject, kernel)},
          {"launcher.c", std::string(k_launcher)},
          {"Makefile", "CFLAGS ?= -O2\n\nlauncher: launcher.c kernel_data.h\n\t$(CC) $(CFLAGS) -o $@ launcher.c -ldl\n\nclean:\n\trm -f launcher\n"},
          {"README.md", readme(subject)}};
}

}  // namespace onelaunch::exporting
