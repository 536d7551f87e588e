#pragma once
// The project's own source files, as text to be checked.

#include <filesystem>
#include <string>
#include <vector>

namespace onelaunch::architecture {

std::filesystem::path project_root();
// Every file below the code folders with one of the extensions, relative to the root, in order.
std::vector<std::filesystem::path> source_files(const std::vector<std::string>& extensions);
std::string text_of(const std::filesystem::path& relative);
// The quoted and angled include paths of a source text.
std::vector<std::string> includes_of(const std::string& text);

}  // namespace onelaunch::architecture
