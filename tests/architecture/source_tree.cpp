#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace onelaunch::architecture {

namespace fs = std::filesystem;

fs::path project_root() { return ONELAUNCH_ROOT; }

std::vector<fs::path> source_files(const std::vector<std::string>& extensions) {
  std::vector<fs::path> files;
  for (const char* folder : {"agent", "base", "sandbox", "tasks", "tests", "traces"}) {
    if (!fs::exists(project_root() / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(project_root() / folder)) {
      const std::string extension = entry.path().extension().string();
      const bool wanted = std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
      if (entry.is_regular_file() && wanted) files.push_back(fs::relative(entry.path(), project_root()));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const fs::path& relative) {
  std::ifstream file(project_root() / relative, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> includes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t begin = line.find_first_of("\"<", word + 7);
    const std::size_t end = line.find_first_of("\">", begin + 1);
    if (begin != std::string::npos && end != std::string::npos)
      includes.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return includes;
}

}  // namespace onelaunch::architecture
