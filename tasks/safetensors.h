#pragma once
// Writes tensors in the safetensors format: a header of JSON, then the bytes. NumPy and PyTorch read it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

struct NamedTensor {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // borrowed
};

Result<void> write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                               const std::map<std::string, std::string>& metadata);

}  // namespace onelaunch::tasks
