#include "agent/loop/emulation.h"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "sandbox/host/emulated_sandbox.h"
#include "tasks/catalog.h"

namespace onelaunch::agent {
namespace {

constexpr const char* kFull = "full";

std::string name_of_variant(const tasks::Task& task) { return task.variant.empty() ? kFull : task.variant; }

// What one run of it holds in memory, which its time grows with.
double bytes_of(const tasks::Task& task) {
  std::int64_t longest = 1;
  for (const tasks::SweepPoint& point : task.sweep) longest = std::max(longest, point.context + point.steps);
  double bytes = 0;
  for (const tasks::Tensor& tensor : task.tensors) bytes += static_cast<double>(tensor.bytes(longest));
  return bytes;
}

std::vector<std::string> variants_of(const tasks::Task& task) {
  if (task.folder.empty()) return {};
  const std::filesystem::path folder(task.folder);
  const auto entries = tasks::list_tasks(folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path());
  if (!entries) return {};
  for (const tasks::CatalogEntry& entry : *entries)
    if (entry.name == task.name) return entry.variants;
  return {};
}

}  // namespace

Emulation::Emulation(const tasks::Task& task, sandbox::Sandbox& own, const Clock& clock, OpenEmulated open)
    : task_(task), own_(own), clock_(clock), open_(std::move(open)) {}

void Emulation::find_smallest() {
  variant_ = name_of_variant(task_);
  double least = bytes_of(task_);
  for (const std::string& variant : variants_of(task_)) {
    if (variant == name_of_variant(task_)) continue;
    auto task = tasks::load_task(task_.folder + "/task.json", variant);
    if (!task || bytes_of(*task) >= least) continue;
    least = bytes_of(*task);
    variant_ = variant;
    smallest_ = std::make_unique<tasks::Task>(std::move(*task));
  }
}

const std::string& Emulation::variant() {
  if (variant_.empty()) find_smallest();
  return variant_;
}

Result<sandbox::Sandbox*> Emulation::sandbox() {
  if (variant_.empty()) find_smallest();
  if (smallest_ == nullptr && own_.device().kind == "emu") return &own_;
  if (opened_ != nullptr) return opened_.get();
  const tasks::Task& task = smallest_ != nullptr ? *smallest_ : task_;
  auto opened = [&]() -> Result<std::unique_ptr<sandbox::Sandbox>> {
    if (open_) return open_(task);
    sandbox::EmulatedOptions options;
    options.target = own_.device().target;
    options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return sandbox::open_emulated(task, options, clock_);
  }();
  if (!opened) return because(opened.error(), "opening the emulator");
  opened_ = std::move(*opened);
  return opened_.get();
}

}  // namespace onelaunch::agent
