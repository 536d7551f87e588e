// Checks and times one candidate on a real GPU under many tunables: the oracle's work is done once a context.
//   megakernel_bench FILE VARIANT CONTEXT[,CONTEXT...] ["NAME=1 NAME=2" ...]      from the repository's root
// Prints one JSON line for each context and set of tunables; with PROFILE=1, the stamps that the kernel left at the end
// of its scratch as u64[128 blocks][128] (nanoseconds; from bit 44, cycles spent waiting for the ring).
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tasks/compare.h"
#include "tasks/header.h"
#include "tests/tasks/nvrtc_candidate.h"
#include "tests/tasks/ops/chain.h"
#include "tests/tasks/tunables.h"

namespace onelaunch::tasks {
namespace {

constexpr int kSteps = 3, kLaunches = 200, kSamples = 15, kStampBlocks = 128, kStamps = 128;

struct Cuda {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  template <class... A>
  void call(const char* name, A... arguments) const {
    auto* const function = reinterpret_cast<CUresult (*)(A...)>(library ? dlsym(library, name) : nullptr);
    if (!function) throw std::runtime_error(std::string("no ") + name);
    if (const CUresult result = function(arguments...); result != CUDA_SUCCESS)
      throw std::runtime_error(std::string(name) + " fails with " + std::to_string(result));
  }
  CUdeviceptr buffer(std::size_t bytes) const {
    CUdeviceptr at = 0;
    call("cuMemAlloc_v2", &at, bytes + 256);
    return at;
  }
  void write(CUdeviceptr at, std::span<const std::byte> content) const {
    if (!content.empty()) call("cuMemcpyHtoD_v2", at, static_cast<const void*>(content.data()), content.size());
  }
  Bytes read(CUdeviceptr at, std::size_t bytes) const {
    Bytes content(bytes);
    call("cuMemcpyDtoH_v2", static_cast<void*>(content.data()), at, bytes);
    return content;
  }
  void fill(CUdeviceptr at, unsigned char value, std::size_t bytes) const {
    if (bytes) call("cuMemsetD8_v2", at, value, bytes);
  }
};

// Weights and states of one context on the device, and what the oracle expects of the first steps.
struct Case {
  Chain chain;
  std::vector<Bytes> tokens, outputs;
  std::vector<std::vector<Bytes>> states;
  std::map<std::string, CUdeviceptr> places;

  Case(const Cuda& cuda, const std::string& variant, std::int64_t context)
      : chain("kimi_linear_decode", variant, InputSet::strict, context) {
    Oracle oracle = chain.oracle(16);
    for (int step = 0; step < kSteps; ++step) {
      Result<DrawnToken> drawn = draw_token(oracle, chain.task, chain.seed + 2, chain.set, step);
      if (!drawn) throw std::runtime_error(drawn.error().message);
      tokens.push_back(drawn->token);
      outputs.push_back(oracle.step(drawn->token).outputs[0]);
      states.emplace_back(oracle.states().begin(), oracle.states().end());
    }
    for (const WeightArena::Place& place : weight_arena(chain.task).places) {
      places[place.tensor->name] = cuda.buffer(place.bytes);
      cuda.write(places[place.tensor->name], std::span(chain.weights).subspan(place.offset, place.bytes));
    }
    for (const Role role : {Role::state, Role::input, Role::output})
      for (const Tensor* tensor : chain.task.with(role)) places[tensor->name] = cuda.buffer(tensor->bytes(chain.capacity));
  }
};

class Candidate {
 public:
  Candidate(const Cuda& cuda, Case& one, const std::string& source, const std::string& ptx)
      : cuda_(cuda), case_(one), layout_(args_layout(one.chain.task)), args_(layout_.bytes / 8) {
    cuda.call("cuModuleLoadData", &module_, static_cast<const void*>(ptx.c_str()));
    cuda.call("cuModuleGetFunction", &function_, module_, "megakernel");
    launch_ = constant("ol_launch");
    cuda.call("cuFuncSetAttribute", function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(launch_[2]));
    for (const auto& [name, offset] : layout_.pointers) word(offset) = one.places.at(name);
    for (const std::size_t member : {layout_.sync, layout_.scratch, layout_.prepared}) {
      const std::size_t bytes = launch_[member == layout_.sync ? 4 : member == layout_.scratch ? 5 : 6];
      word(member) = cuda.buffer(bytes);
    }
    cuda.fill(word(layout_.scratch), 0xff, launch_[5]);
    cuda.fill(word(layout_.sync), 0, launch_[4]);
    word(layout_.cache_capacity) = static_cast<std::uint64_t>(one.chain.capacity);
    prepare(source);
    const auto states = one.chain.task.with(Role::state);
    for (std::size_t i = 0; i < states.size(); ++i) cuda.write(one.places.at(states[i]->name), one.chain.states[i]);
  }
  ~Candidate() {
    try {
      for (const std::size_t member : {layout_.sync, layout_.scratch, layout_.prepared}) cuda_.call("cuMemFree_v2", CUdeviceptr{word(member)});
      cuda_.call("cuModuleUnload", module_);
    } catch (const std::exception&) {  // the context is gone
    }
  }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

  void step(int index) {
    const Task& task = case_.chain.task;
    cuda_.write(case_.places.at(task.with(Role::input)[0]->name), case_.tokens[static_cast<std::size_t>(index)]);
    launch(index);
    cuda_.call("cuCtxSynchronize");
  }
  void launch(int step) {
    word(layout_.position) = static_cast<std::uint64_t>(case_.chain.context + step);
    word(layout_.epoch) = epoch_++;
    void* parameters[] = {args_.data()};
    cuda_.call("cuLaunchCooperativeKernel", function_, static_cast<unsigned>(launch_[1]), 1u, 1u, static_cast<unsigned>(launch_[0]), 1u, 1u,
               static_cast<unsigned>(launch_[2]), CUstream{nullptr}, static_cast<void**>(parameters));
  }
  double time_us() {
    CUevent start = nullptr, end = nullptr;
    cuda_.call("cuEventCreate", &start, 0u);
    cuda_.call("cuEventCreate", &end, 0u);
    cuda_.call("cuEventRecord", start, CUstream{nullptr});
    for (int i = 0; i < kLaunches; ++i) launch(kSteps);
    cuda_.call("cuEventRecord", end, CUstream{nullptr});
    cuda_.call("cuEventSynchronize", end);
    float milliseconds = 0;
    cuda_.call("cuEventElapsedTime", &milliseconds, start, end);
    return milliseconds * 1e3 / kLaunches;
  }
  std::vector<Finding> check(int step) {
    const Task& task = case_.chain.task;
    const auto index = static_cast<std::size_t>(step);
    const Tensor* const output = task.with(Role::output)[0];
    const auto states = task.with(Role::state);
    std::vector<Bytes> got{cuda_.read(case_.places.at(output->name), output->bytes(0))};
    for (const Tensor* tensor : states) got.push_back(cuda_.read(case_.places.at(tensor->name), tensor->bytes(case_.chain.capacity)));
    std::vector<TensorView> views{{output, got[0], case_.outputs[index], case_.tokens[index]}};
    for (std::size_t i = 0; i < states.size(); ++i) views.push_back({states[i], got[i + 1], case_.states[index][i], case_.chain.states[i]});
    return compare(task, views, case_.chain.context, case_.chain.context + step + 1);
  }
  std::vector<std::uint64_t> stamps() {
    std::vector<std::uint64_t> words(kStampBlocks * kStamps);
    const std::size_t bytes = words.size() * 8;
    const Bytes content = cuda_.read(word(layout_.scratch) + launch_[5] - bytes, bytes);
    std::memcpy(words.data(), content.data(), bytes);
    return words;
  }
  int attribute(CUfunction_attribute which) {
    int value = 0;
    cuda_.call("cuFuncGetAttribute", &value, which, function_);
    return value;
  }

 private:
  std::uint64_t& word(std::size_t offset) { return args_.at(offset / 8); }
  std::vector<std::uint64_t> constant(const std::string& name) {
    CUdeviceptr at = 0;
    std::size_t bytes = 0;
    cuda_.call("cuModuleGetGlobal_v2", &at, &bytes, module_, name.c_str());
    std::vector<std::uint64_t> words(bytes / 8);
    const Bytes content = cuda_.read(at, bytes);
    std::memcpy(words.data(), content.data(), bytes);
    return words;
  }
  void prepare(const std::string& source) {
    const ArgsLayout layout = prepare_args_layout(case_.chain.task);
    std::vector<std::uint64_t> words(layout.bytes / 8);
    for (const auto& [name, offset] : layout.pointers) words.at(offset / 8) = case_.places.at(name);
    words.at(layout.prepared / 8) = word(layout_.prepared);
    const std::regex line(R"(\nOL_PREPARE\((\w+))");
    for (std::sregex_iterator found(source.begin(), source.end(), line), end; found != end; ++found) {
      const std::vector<std::uint64_t> shape = constant("ol_prepare_" + (*found)[1].str());
      CUfunction function = nullptr;
      cuda_.call("cuModuleGetFunction", &function, module_, (*found)[1].str().c_str());
      void* parameters[] = {words.data()};
      cuda_.call("cuLaunchKernel", function, static_cast<unsigned>(shape[2]), 1u, 1u, static_cast<unsigned>(shape[1]), 1u, 1u,
                 static_cast<unsigned>(shape[3]), CUstream{nullptr}, static_cast<void**>(parameters), static_cast<void**>(nullptr));
    }
    cuda_.call("cuCtxSynchronize");
  }

  const Cuda& cuda_;
  Case& case_;
  ArgsLayout layout_;
  std::vector<std::uint64_t> args_, launch_;
  std::uint64_t epoch_ = 0;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

// For each stamp, over the blocks: time since the stamp before, waits for the ring, time since the block's start.
void print_profile(const std::vector<std::uint64_t>& words, const std::vector<std::string>& labels) {
  constexpr std::uint64_t kTime = (1ull << 44) - 1;
  for (std::size_t i = 1; i < labels.size() && i < kStamps; ++i) {
    std::vector<double> spent, since, waited;
    double mean = 0;
    for (std::size_t b = 0; b < kStampBlocks; ++b) {
      const std::uint64_t now = words[b * kStamps + i] & kTime;
      spent.push_back(static_cast<double>(now - (words[b * kStamps + i - 1] & kTime)) * 1e-3);
      since.push_back(static_cast<double>(now - (words[b * kStamps] & kTime)) * 1e-3);
      waited.push_back(static_cast<double>(words[b * kStamps + i] >> 44));
      mean += spent.back() / kStampBlocks;
    }
    for (auto* values : {&spent, &since, &waited}) std::sort(values->begin(), values->end());
    std::printf("  %-12s min %6.2f median %6.2f mean %6.2f max %6.2f | ring %6.0f cycles | at %7.2f (%.2f .. %.2f)\n", labels[i].c_str(), spent.front(),
                spent[kStampBlocks / 2], mean, spent.back(), waited[kStampBlocks / 2], since[kStampBlocks / 2], since.front(), since.back());
  }
}

std::vector<std::string> labels_of(const std::string& source, const std::string& line) {  // "// STAMPS a b c ..."
  std::smatch found;
  std::vector<std::string> labels;
  if (!std::regex_search(source, found, std::regex("// " + line + " ([^\n]*)"))) return labels;
  std::istringstream words(found[1].str());
  for (std::string word; words >> word;) labels.push_back(word);
  return labels;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void run(const Cuda& cuda, const worker::Nvrtc& nvrtc, Case& one, const std::string& source, const std::string& set) {
  std::map<std::string, std::string> chosen;
  std::istringstream words(set);
  for (std::string word; words >> word;) chosen[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  std::printf("{\"context\": %lld, \"set\": \"%s\", ", static_cast<long long>(one.chain.context), set.c_str());
  const CompiledCandidate compiled = compile_candidate(nvrtc, one.chain.task, source, "sm_90a", defines_of(tunables_of(source), chosen));
  if (!compiled.ok) {
    std::printf("\"error\": \"%s\"}\n", escaped(compiled.log).c_str());
    return;
  }
  Candidate candidate(cuda, one, source, compiled.ptx);
  bool correct = true;
  double worst = 0, output = 0;
  std::string where;
  for (int step = 0; step < kSteps; ++step) {
    candidate.step(step);
    for (const Finding& finding : candidate.check(step)) {
      correct &= finding.ok;
      const double share = (finding.test == "rel_l2" || finding.test == "update") && finding.tolerance > 0 ? finding.got / finding.tolerance : 0;
      if (finding.tensor == "hidden_out" && (finding.test == "rel_l2" || finding.test == "update")) output = std::max(output, finding.got);
      if (!finding.ok || share > worst) where = finding.test + " " + finding.tensor + ": " + finding.detail;
      worst = std::max(worst, share);
    }
  }
  std::vector<double> samples;
  candidate.time_us();
  for (int i = 0; i < kSamples; ++i) samples.push_back(candidate.time_us());
  std::sort(samples.begin(), samples.end());
  std::printf("\"correct\": %s, \"worst_share\": %.3f, \"output_error\": %.5f, \"worst\": \"%s\", \"registers\": %d, \"local_bytes\": %d, "
              "\"token_loop_us\": {\"median\": %.2f, \"low\": %.2f, \"high\": %.2f}}\n",
              correct ? "true" : "false", worst, output, escaped(where).c_str(), candidate.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
              candidate.attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), samples[kSamples / 2], samples.front(), samples.back());
  if (const std::string profile = chosen.contains("PROFILE") ? chosen.at("PROFILE") : "0"; profile != "0")
    print_profile(candidate.stamps(), labels_of(source, profile == "2" ? "STAMPS2" : "STAMPS"));
  std::fflush(stdout);
}

int bench(int count, char** words) {
  if (count < 4) throw std::runtime_error("megakernel_bench FILE VARIANT CONTEXT[,CONTEXT...] [\"NAME=1 NAME=2\" ...]");
  const std::string source = read_file(words[1], 1 << 20).value();
  std::vector<std::string> sets(words + 4, words + count);
  if (sets.empty()) sets.emplace_back();
  const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
  if (!nvrtc) throw std::runtime_error(nvrtc.error().message);
  const Cuda cuda;
  CUcontext context = nullptr;
  cuda.call("cuInit", 0u);
  cuda.call("cuDevicePrimaryCtxRetain", &context, CUdevice{0});
  cuda.call("cuCtxSetCurrent", context);
  std::istringstream contexts(words[3]);
  for (std::string one; std::getline(contexts, one, ',');) {
    Case made(cuda, words[2], std::stoll(one));
    for (const std::string& set : sets) run(cuda, *nvrtc, made, source, set);
    for (const auto& [name, place] : made.places) cuda.call("cuMemFree_v2", place);
  }
  return 0;
}

}  // namespace
}  // namespace onelaunch::tasks

int main(int count, char** words) {
  try {
    return onelaunch::tasks::bench(count, words);
  } catch (const std::exception& error) {
    std::printf("{\"error\": \"%s\"}\n", error.what());
    return 1;
  }
}
