#include "tasks/catalog.h"

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "tasks/parse.h"

namespace onelaunch::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTaskBytesMax = 4 << 20;
constexpr std::size_t kSeedBytesMax = 4 << 20;
constexpr const char* kTaskFile = "task.json";
constexpr const char* kSeedFile = "seed.cu";

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

fs::path executable_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string list_of(const std::vector<CatalogEntry>& entries) {
  std::string list;
  for (const CatalogEntry& entry : entries) list += (list.empty() ? "" : ", ") + entry.name;
  return list.empty() ? "none" : list;
}

// A path is anything that ends in .json, has a slash, or is there.
bool names_a_path(const std::string& name) { return name.ends_with(".json") || name.find('/') != std::string::npos; }

Result<fs::path> task_file(const std::string& name) {
  std::error_code error;
  if (names_a_path(name)) return is_folder(name) ? fs::path(name) / kTaskFile : fs::path(name);
  const fs::path library = library_folder();
  const fs::path file = library / name / kTaskFile;
  if (!name.empty() && name.find("..") == std::string::npos && fs::exists(file, error)) return file;
  const Result<std::vector<CatalogEntry>> known = list_tasks(library);
  if (!known) return because(known.error());
  return invalid("no task is named \"" + name + "\". Known tasks: " + list_of(*known) + " (in " + library.string() +
                 "). A path to a task.json will do too");
}

}  // namespace

std::filesystem::path library_folder() {
  if (const char* chosen = std::getenv("ONELAUNCH_TASKS"); chosen != nullptr && *chosen != '\0') return chosen;
  for (const fs::path& folder :
       {fs::path("tasks/library"), executable_folder() / "tasks/library",
        executable_folder() / "../share/onelaunch/tasks", executable_folder() / "../../../tasks/library"})
    if (is_folder(folder)) return folder;
  return ONELAUNCH_TASKS_FOLDER;
}

Result<std::vector<CatalogEntry>> list_tasks(const std::filesystem::path& library) {
  std::error_code error;
  std::vector<CatalogEntry> entries;
  fs::directory_iterator folder(library, error);
  if (error) return invalid("cannot read the task library " + library.string() + ": " + error.message());
  for (; folder != fs::directory_iterator(); folder.increment(error)) {
    const fs::path file = folder->path() / kTaskFile;
    if (!fs::exists(file, error)) continue;
    const Result<std::string> text = read_file(file, kTaskBytesMax);
    if (!text) return because(text.error());
    const Result<TaskOutline> outline = outline_task(*text, file.string());
    if (!outline) return because(outline.error());
    entries.push_back({outline->name, outline->title, outline->variants, folder->path()});
  }
  std::sort(entries.begin(), entries.end(),
            [](const CatalogEntry& a, const CatalogEntry& b) { return a.name < b.name; });
  return entries;
}

Result<Task> load_task(const std::string& name, const std::string& variant) {
  const Result<fs::path> file = task_file(name);
  if (!file) return because(file.error());
  const Result<std::string> text = read_file(*file, kTaskBytesMax);
  if (!text) return because(text.error(), "reading the task");
  Result<Task> task = parse_task(*text, file->string(), variant);
  if (task) task->folder = fs::absolute(*file).parent_path().string();
  return task;
}

Result<std::string> seed_kernel(const Task& task) {
  if (task.folder.empty()) return invalid("the task \"" + task.name + "\" has no folder, so no seed kernel");
  const Result<std::string> source = read_file(fs::path(task.folder) / kSeedFile, kSeedBytesMax);
  if (!source) return because(source.error(), "reading the seed kernel of \"" + task.name + "\"");
  return *source;
}

}  // namespace onelaunch::tasks
