#include "tasks/safetensors.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace onelaunch::tasks {
namespace {

using Json = nlohmann::ordered_json;

const char* format_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::bf16:
      return "BF16";
    case DType::u8:
      return "U8";
    case DType::i32:
      return "I32";
  }
  return "U8";
}

std::string header_of(const std::vector<NamedTensor>& tensors, const std::map<std::string, std::string>& metadata) {
  Json header;
  header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", format_name(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data begins aligned
  return text;
}

}  // namespace

Result<void> write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string header = header_of(tensors, metadata);
  const std::uint64_t length = header.size();  // little endian, as this machine is
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const NamedTensor& tensor : tensors)
    file.write(reinterpret_cast<const char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
  file.close();
  if (!file) return unavailable("cannot write " + path.string() + ": " + std::strerror(errno));
  return {};
}

}  // namespace onelaunch::tasks
