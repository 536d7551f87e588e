#include "tasks/device_generator.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "tasks/generator.h"
#include "tasks/header_text.h"
#include "tasks/quantise.h"

namespace onelaunch::tasks {
namespace {

// As in device/generator.cu.
constexpr std::uint64_t kPlainBlock = 256, kElementsAThread = 8;
constexpr std::uint64_t kTileColumns = 256, kTileBlock = 1024;
constexpr std::size_t kTileMemory = 32768 * 4 + kTileColumns * 8 + 2 * 32 * kTileColumns * 2;

std::uint64_t divided_up(std::uint64_t items, std::uint64_t by) { return (items + by - 1) / by; }
std::uint64_t count(std::int64_t number) { return static_cast<std::uint64_t>(number); }

GeneratorArgument literal(std::uint64_t word) { return {GeneratorArgument::Kind::literal, {}, word}; }
GeneratorArgument pointer(const std::string& tensor) { return {GeneratorArgument::Kind::tensor, tensor, 0}; }

// Constants are normal values without a deviation.
// `channels`: what marks repeat over.
void append_source(std::vector<GeneratorArgument>& arguments, std::uint32_t id, const Distribution& drawn,
                   std::int64_t channels) {
  using Kind = Distribution::Kind;
  const double scale = drawn.kind == Kind::normal ? drawn.scale : 0;
  const double mean = drawn.kind == Kind::normal ? drawn.mean : drawn.kind == Kind::constant ? drawn.scale : 0;
  const std::uint64_t low = std::bit_cast<std::uint32_t>(static_cast<float>(scale));
  const std::uint64_t high = std::bit_cast<std::uint32_t>(static_cast<float>(mean));
  arguments.push_back({GeneratorArgument::Kind::table, {}, 0});
  arguments.push_back({GeneratorArgument::Kind::seed, {}, 0});
  arguments.push_back(literal(id));
  arguments.push_back(literal(low | high << 32));
  arguments.push_back(literal(std::bit_cast<std::uint64_t>(drawn.kind == Kind::normal ? drawn.spread : 0.0)));
  const std::uint64_t outlier = std::bit_cast<std::uint32_t>(static_cast<float>(drawn.outlier));
  const std::uint64_t marked = std::bit_cast<std::uint32_t>(static_cast<float>(drawn.marked));
  arguments.push_back(literal(outlier | marked << 32));
  arguments.push_back(literal(count(channels)));
}

const char* entry_for(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "fill_f32";
    case DType::bf16:
      return "fill_bf16";
    case DType::u8:
      return "fill_u8";
    case DType::i32:
      return "fill_i32";
  }
  OL_CHECK(false, "a dtype without a kernel");
}

GeneratorLaunch int4_launch(const Quantised& weight, InputSet set, const GeneratorDevice& device) {
  const std::uint64_t groups = count(weight.experts * weight.in / kQuantGroup), out = count(weight.out);
  GeneratorLaunch launch;
  if (out % kElementsAThread == 0 && device.shared_per_block >= kTileMemory) {
    const std::uint64_t tiles = groups * divided_up(out, kTileColumns);
    launch = {.entry = "fill_int4",
              .grid = static_cast<unsigned>(std::min<std::uint64_t>(tiles, device.sms)),
              .block = kTileBlock,
              .dynamic_smem = kTileMemory,
              .arguments = {}};
  } else {
    launch = {.entry = "fill_int4_slowly",
              .grid = static_cast<unsigned>(divided_up(groups * out, kPlainBlock)),
              .block = kPlainBlock,
              .dynamic_smem = 0,
              .arguments = {}};
  }
  for (const char* part : {".packed", ".scale", ".zero"}) launch.arguments.push_back(pointer(weight.name + part));
  append_source(launch.arguments, weight.id, set == InputSet::strict ? weight.strict : weight.nominal, weight.in);
  for (const std::uint64_t word : {out, groups}) launch.arguments.push_back(literal(word));
  return launch;
}

}  // namespace

std::string generator_source() { return k_generator; }

std::span<const std::byte> generator_table() { return std::as_bytes(normal_quantiles()); }

std::vector<GeneratorLaunch> weight_launches(const Task& task, InputSet set, const GeneratorDevice& device) {
  std::vector<GeneratorLaunch> launches;
  for (const Tensor* tensor : task.with(Role::weight)) {
    const std::size_t dot = tensor->name.rfind('.');
    const Quantised* quantised = dot == std::string::npos ? nullptr : task.find_quantised(tensor->name.substr(0, dot));
    if (quantised == nullptr)
      launches.push_back(tensor_launch(task, *tensor, set, 0, 0));
    else if (tensor->name.ends_with(".packed"))
      launches.push_back(int4_launch(*quantised, set, device));
  }
  return launches;
}

GeneratorLaunch tensor_launch(const Task& task, const Tensor& tensor, InputSet set, std::int64_t context,
                              std::int64_t capacity) {
  OL_CHECK(task.find(tensor.name) == &tensor, "the tensor is the task's own");
  OL_CHECK(!tensor.is_cache() || context <= capacity, "the cache holds its context");
  std::int64_t slice = 1;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i) slice *= tensor.shape[i];
  const std::int64_t elements = tensor.elements(capacity), drawn = tensor.is_cache() ? context * slice : elements;
  GeneratorLaunch launch{.entry = entry_for(tensor.dtype),
                         .grid = static_cast<unsigned>(
                             std::max<std::uint64_t>(divided_up(count(elements), kPlainBlock * kElementsAThread), 1)),
                         .block = kPlainBlock,
                         .dynamic_smem = 0,
                         .arguments = {pointer(tensor.name)}};
  append_source(launch.arguments, tensor.id, set == InputSet::strict ? tensor.strict : tensor.nominal,
                tensor.shape.back());
  for (const std::int64_t word : {slice, drawn, elements}) launch.arguments.push_back(literal(count(word)));
  return launch;
}

}  // namespace onelaunch::tasks
