#include "tasks/task.h"

#include <algorithm>

#include "base/check.h"

namespace onelaunch::tasks {

std::size_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::bf16:
      return 2;
    case DType::u8:
      return 1;
  }
  OL_CHECK(false, "a dtype without a size");
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::bf16:
      return "bf16";
    case DType::u8:
      return "u8";
    case DType::i32:
      return "i32";
  }
  OL_CHECK(false, "a dtype without a name");
}

bool Tensor::is_cache() const { return role == Role::state && !shape.empty() && shape.front() == kCapacity; }

std::int64_t Tensor::elements(std::int64_t capacity) const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent == kCapacity ? capacity : extent;
  return count;
}

std::size_t Tensor::bytes(std::int64_t capacity) const {
  return static_cast<std::size_t>(elements(capacity)) * element_bytes(dtype);
}

const Tensor* Task::find(const std::string& tensor) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == tensor; });
  return found == tensors.end() ? nullptr : &*found;
}

const Quantised* Task::find_quantised(const std::string& weight) const {
  const auto found =
      std::find_if(quantised.begin(), quantised.end(), [&](const Quantised& q) { return q.name == weight; });
  return found == quantised.end() ? nullptr : &*found;
}

std::vector<const Tensor*> Task::with(Role role) const {
  std::vector<const Tensor*> found;
  for (const Tensor& tensor : tensors)
    if (tensor.role == role) found.push_back(&tensor);
  return found;
}

}  // namespace onelaunch::tasks
