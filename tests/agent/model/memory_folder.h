#pragma once
// A fresh folder in memory where there is such a place: thousands of synced appends would take minutes on a disk.

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace onelaunch {

class MemoryFolder {
 public:
  MemoryFolder() {
    const bool memory = std::filesystem::is_directory("/dev/shm");
    const std::filesystem::path base = memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (base / "onelaunch-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace onelaunch
