#include "agent/export/subject.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/sha256.h"
#include "tasks/catalog.h"

namespace onelaunch::exporting {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kSourceBytesMax = 4u << 20;
constexpr std::size_t kCardBytesMax = 16u << 20;
constexpr std::size_t kCubinBytesMax = 256u << 20;
constexpr const char* kDefaultTarget = "sm_90a";

// What a card says of its kernel.
struct Card {
  std::string task, variant, task_sha256, cubin_sha256, target;
  sandbox::TunableValues tunables;
};

std::string text_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Result<Card> parse_card(const std::string& text, const fs::path& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid(file.string() + ": this is no JSON object");
  Card card{.task = text_of(json, "task"),
            .variant = text_of(json, "variant"),
            .task_sha256 = text_of(json, "task_sha256"),
            .cubin_sha256 = text_of(json, "cubin_sha256")};
  if (card.task.empty()) return invalid(file.string() + ": it names no task");
  if (const auto device = json.find("device"); device != json.end() && device->is_object())
    card.target = text_of(*device, "target");
  const auto tunables = json.find("tunables");
  if (tunables == json.end()) return card;
  if (!tunables->is_object()) return invalid(file.string() + ": `tunables` is no object");
  for (const auto& [name, value] : tunables->items()) {
    if (!value.is_string()) return invalid(file.string() + ": the tunable " + name + " is no string");
    card.tunables[name] = value.get<std::string>();
  }
  return card;
}

// The folder with kernel.cu; empty when there is none.
fs::path kernel_folder(const fs::path& path) {
  std::error_code ignored;
  for (const fs::path& folder : {path, path / "best"})
    if (fs::is_regular_file(folder / "kernel.cu", ignored)) return folder;
  return {};
}

fs::path run_of(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& run : {folder, fs::absolute(folder, ignored).lexically_normal().parent_path()})
    if (fs::is_regular_file(run / "events.jsonl", ignored)) return run;
  return {};
}

Result<void> agree(const std::string& asked, const std::string& recorded, const std::string& what) {
  if (asked.empty() || asked == recorded) return {};
  return invalid("this kernel is of the " + what + " " + recorded + ", not " + asked);
}

// The measured binary, when it is still the one that this source, these tunables and this task give.
void take_cubin(const Card& card, const SubjectRequest& request, const fs::path& folder, Subject& subject) {
  if (card.task_sha256 != subject.task.sha256) {
    subject.remarks.push_back("the task has changed since this kernel was measured: it is compiled anew");
    return;
  }
  if (!request.tunables.empty() || subject.target != card.target) return;
  const Result<std::string> cubin = read_file(folder / "kernel.cubin", kCubinBytesMax);
  if (!cubin) return;
  if (!card.cubin_sha256.empty() && sha256_hex(*cubin) != card.cubin_sha256)
    subject.remarks.push_back("kernel.cubin is not the one that the card names: the source is compiled anew");
  else
    subject.cubin = *cubin;
}

Result<Subject> from_folder(const SubjectRequest& request, const fs::path& folder) {
  const Result<std::string> text = read_file(folder / "card.json", kCardBytesMax);
  if (!text) return because(text.error(), "a kernel's folder needs its card.json");
  const Result<Card> card = parse_card(*text, folder / "card.json");
  if (!card) return because(card.error());
  const Result<void> agreed = agree(request.task, card->task, "task").and_then([&] {
    return agree(request.variant, card->variant, "variant");
  });
  if (!agreed) return because(agreed.error());
  Result<tasks::Task> task = tasks::load_task(card->task, card->variant);
  if (!task) return because(task.error());
  Result<std::string> source = read_file(folder / "kernel.cu", kSourceBytesMax);
  if (!source) return because(source.error());
  Subject subject{.task = std::move(*task), .source = std::move(*source), .tunables = card->tunables, .card = *text};
  for (const auto& [name, value] : request.tunables) subject.tunables[name] = value;
  subject.target = !request.target.empty() ? request.target : card->target.empty() ? kDefaultTarget : card->target;
  subject.run = run_of(folder);
  take_cubin(*card, request, folder, subject);
  return subject;
}

Result<Subject> from_file(const SubjectRequest& request) {
  if (request.task.empty()) return invalid(request.path.string() + " is a plain source: name its task with --task");
  Result<tasks::Task> task = tasks::load_task(request.task, request.variant);
  if (!task) return because(task.error());
  Result<std::string> source = read_file(request.path, kSourceBytesMax);
  if (!source) return because(source.error());
  return Subject{.task = std::move(*task),
                 .source = std::move(*source),
                 .tunables = request.tunables,
                 .target = request.target.empty() ? kDefaultTarget : request.target};
}

}  // namespace

Result<Subject> read_subject(const SubjectRequest& request) {
  std::error_code ignored;
  if (!fs::exists(request.path, ignored)) return invalid("there is no " + request.path.string());
  if (!fs::is_directory(request.path, ignored)) return from_file(request);
  const fs::path folder = kernel_folder(request.path);
  if (folder.empty())
    return invalid(request.path.string() + " holds neither kernel.cu nor best/kernel.cu: no kernel was kept here");
  return from_folder(request, folder);
}

}  // namespace onelaunch::exporting
