#include "traces/verify.h"

#include <algorithm>
#include <set>

#include "traces/event_json.h"
#include "traces/fields.h"
#include "traces/line_source.h"
#include "traces/reader.h"

namespace onelaunch::traces {
namespace {

// The hashes in an event that name blobs.
struct BlobNames {
  std::vector<std::string> names;
  void operator()(const char*, const std::string& value, const Rule& rule) {
    if (rule.form == Form::blob && !value.empty()) names.push_back(value);
  }
  template <class T>
  void operator()(const char*, const T&, const Rule&) {}
};

class Verifier {
 public:
  Verifier(std::filesystem::path run, bool check_blobs) : run_(std::move(run)) { report_.blobs_checked = check_blobs; }

  void take(std::string_view line, std::uint64_t number) {
    const Result<ParsedLine> parsed = parser_.parse(line);
    if (!parsed) {
      found(number, parsed.error().message);
      return chain_.add(line, std::nullopt, std::nullopt);
    }
    chain_.add(line, parsed->record.seq, parsed->record.prev);
    check_order(*parsed, number);
    if (!parsed->known)
      report_.unknown.push_back("line " + std::to_string(number) + ": unknown event type `" + parsed->type + "`");
    else if (report_.blobs_checked)
      check_blobs(parsed->record.event, number);
  }

  VerifyReport finish(bool torn) {
    chain_.finish();
    for (const Defect& defect : chain_.defects()) found(defect.line, defect.reason);
    auto& defects = report_.defects;
    std::stable_sort(defects.begin(), defects.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
    if (defects.size() > kDefectsMax) defects.resize(kDefectsMax);
    report_.events = chain_.lines();
    report_.head = chain_.head();
    report_.torn_last_line = torn;
    report_.blobs = seen_.size();
    return std::move(report_);
  }

 private:
  void found(std::uint64_t line, std::string reason) { report_.defects.push_back({line, std::move(reason)}); }

  void check_order(const ParsedLine& parsed, std::uint64_t number) {
    if (number == 1 && parsed.type != SessionStart::type)
      found(number, "a trace begins with session_start, not " + parsed.type);
    if (parsed.record.t < last_t_) found(number, "t goes back");
    last_t_ = parsed.record.t;
  }

  void check_blobs(const Event& event, std::uint64_t number) {
    BlobNames collected;
    std::visit([&](const auto& e) { fields(collected, e); }, event);
    for (const std::string& name : collected.names) {
      if (!seen_.insert(name).second) continue;
      if (const Result<std::string> blob = read_blob(run_, name); !blob) found(number, blob.error().message);
    }
  }

  std::filesystem::path run_;
  LineParser parser_{Strictness::strict};
  Chain chain_;
  std::set<std::string> seen_;
  double last_t_ = 0;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify_trace(const std::filesystem::path& path) {
  const std::filesystem::path file = trace_file(path);
  const std::filesystem::path run = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;  // a folder that cannot be looked at counts as missing
  const bool check_blobs = file != path || std::filesystem::is_directory(run / "blobs", ignored);
  Result<LineSource> source = LineSource::open(file);
  if (!source) return because(source.error());
  Verifier verifier(run, check_blobs);
  for (;;) {
    const Result<LineSource::Got> got = source->next();
    if (!got) return because(got.error(), file.string());
    if (*got != LineSource::Got::line) return verifier.finish(*got == LineSource::Got::torn);
    verifier.take(source->text(), source->number());
  }
}

std::string describe(const VerifyReport& report) {
  std::string text;
  if (report.ok()) {
    text = "ok: " + std::to_string(report.events) + " events, chain and schema hold, ";
    text += report.blobs_checked ? std::to_string(report.blobs) + " blobs match\n" : "blobs not checked (none here)\n";
    text += "head " + report.head + "\n";
  } else {
    text = "BAD: first at line " + std::to_string(report.defects.front().line) + "\n";
    for (const Defect& defect : report.defects)
      text += "  line " + std::to_string(defect.line) + ": " + defect.reason + "\n";
  }
  if (report.torn_last_line) text += "the last line is torn (the process died while writing it); it is left out\n";
  for (const std::string& unknown : report.unknown) text += unknown + " (a newer writer?)\n";
  return text;
}

}  // namespace onelaunch::traces
