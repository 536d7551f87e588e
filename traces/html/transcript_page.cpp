#include "traces/html/transcript_page.h"

#include <algorithm>

#include "base/files.h"
#include "traces/html/assets.h"
#include "traces/text.h"

namespace onelaunch::traces {
namespace {

using Kind = TranscriptStep::Kind;
constexpr std::size_t kShownChars = 160, kFoldedCharsMax = 20000;

// Text and the values of attributes.
std::string safe(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') result += "&lt;";
    else if (c == '>') result += "&gt;";
    else if (c == '&') result += "&amp;";
    else if (c == '"') result += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') result += c;
  }
  return result;
}

// A cut inside a character would make the page invalid.
std::size_t whole_characters(const std::string& text, std::size_t length) {
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return std::min(length, text.size());
}

std::string text_cell(const std::string& text) {
  if (text.size() <= kShownChars && text.find('\n') == std::string::npos) return safe(text);
  const std::size_t length = whole_characters(text, kFoldedCharsMax);
  const std::string rest = length < text.size() ? "\n... and " + std::to_string(text.size() - length) + " bytes more" : "";
  return "<details><summary>" + safe(one_line(text, kShownChars)) + "</summary><pre>" + safe(text.substr(0, length)) + safe(rest) +
         "</pre></details>";
}

std::string step_row(const TranscriptStep& step) {
  const bool bad = step.failed || step.kind == Kind::error;
  return "<tr><td class=\"n\">" + (step.t ? fixed(*step.t, 1) : std::string()) + "</td><td>" + (bad ? "<span class=\"warn\">" : "") +
         word_of(step.kind) + (step.failed ? ", failed" : "") + (bad ? "</span>" : "") + "</td><td>" + safe(step.name) + "</td><td class=\"n\">" +
         (step.seconds ? fixed(*step.seconds, 1) : std::string()) + "</td><td>" + text_cell(step.text) + "</td></tr>\n";
}

std::string tile(const std::string& name, const std::string& value) {
  return "<div><dt>" + safe(name) + "</dt><dd>" + safe(value) + "</dd></div>\n";
}

std::string tiles(const Transcript& t) {
  const auto number = [](const std::optional<std::uint64_t>& n) { return n ? std::to_string(*n) : std::string("not told"); };
  std::string text = "<dl class=\"tiles\">\n" + tile("Model", t.model.empty() ? "not told" : t.model);
  text += tile("Time", t.duration_s ? fixed(*t.duration_s, 1) + " s" : "not told");
  text += tile("Cost", t.cost_usd ? "$" + fixed(*t.cost_usd, 4) : "not told");
  text += tile("Tokens in", t.use.input || t.use.cache_read ? std::to_string(t.use.prompt()) : "not told");
  text += tile("of them from the cache", number(t.use.cache_read)) + tile("Tokens out", number(t.use.output));
  text += tile("Answers of the model", std::to_string(t.turns.size())) + tile("Tool calls", std::to_string(t.tool_calls()));
  return text + tile("Ending", t.ending.empty() ? "not told" : t.ending) + "</dl>\n";
}

std::string list_of(const std::string& heading, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = "<section><h2>" + safe(heading) + "</h2>\n<ul>\n";
  for (const std::string& item : items) text += "<li>" + safe(item) + "</li>\n";
  return text + "</ul></section>\n";
}

std::string timeline(const Transcript& t, std::size_t steps_max) {
  std::string text = "<section><h2>Timeline</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Timeline\"><table><thead><tr><th scope=\"col\" class=\"n\">s</th>"
                     "<th scope=\"col\">What</th><th scope=\"col\">Tool</th><th scope=\"col\" class=\"n\">took, s</th><th scope=\"col\">Text</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < t.steps.size() && i < steps_max; ++i) text += step_row(t.steps[i]);
  text += "</tbody></table></div>\n";
  if (t.steps.size() > steps_max) text += "<p class=\"note\">" + std::to_string(t.steps.size() - steps_max) + " later steps are left out.</p>\n";
  return text + "</section>\n";
}

}  // namespace

std::string transcript_page(const Transcript& t, std::size_t steps_max) {
  const std::string title = safe(t.agent.empty() ? t.format : t.agent + (t.model.empty() ? "" : ", " + t.model));
  std::string text = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" + title + "</title>\n<link rel=\"icon\" href=\"data:,\">\n"
                     "<link rel=\"stylesheet\" href=\"assets/report.css\">\n</head>\n<body data-page=\"transcript\">\n<a class=\"skip\" href=\"#main\">Skip to the session</a>\n"
                     "<header class=\"top\"><div class=\"bar\"><span class=\"brand\">onelaunch</span></div>\n<h1>" + title + "</h1>\n";
  text += "<p class=\"lead\">" + safe(t.format) + (t.session.empty() ? "" : ", session " + safe(t.session)) +
          (t.started.empty() ? "" : ", started " + safe(t.started)) + ". Another program's transcript: nothing in it was checked here.</p></header>\n<main id=\"main\">\n";
  return text + tiles(t) + list_of("Not in this transcript", t.lacks) + list_of("Speeds that it states", t.figures) + timeline(t, steps_max) + "</main>\n</body>\n</html>\n";
}

Result<void> write_transcript_site(const Transcript& transcript, const std::filesystem::path& folder) {
  for (int i = 0; i < kAssets; ++i) {
    if (asset(i).name != "report.css") continue;
    if (const auto done = replace_file(folder / "assets" / asset(i).name, asset(i).content); !done) return done;
  }
  return replace_file(folder / "index.html", transcript_page(transcript));
}

}  // namespace onelaunch::traces
