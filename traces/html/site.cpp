#include "traces/html/site.h"

#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "traces/html/assets.h"
#include "traces/html/session_document.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Result<void> write_file(const fs::path& file, std::string_view content) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) return unavailable("cannot write " + file.string());
  return {};
}

Result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return unavailable("cannot make " + folder.string() + ": " + error.message());
  return {};
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '&') safe += "&amp;";
    else if (c == '"') safe += "&quot;";
    else safe += c;
  }
  return safe;
}

// JSON inside <script>: nothing in it may end the element or open a comment.
std::string script_text(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') safe += "\\u003c";
    else safe += c;
  }
  return safe;
}

std::string filled(std::string_view page, const std::map<std::string_view, std::string>& places) {
  std::string text;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t open = page.find('@', at);
    const std::size_t close = open == std::string_view::npos ? open : page.find('@', open + 1);
    if (close == std::string_view::npos) return text += page.substr(at);
    text += page.substr(at, open - at);
    const auto place = places.find(page.substr(open + 1, close - open - 1));
    if (place == places.end()) {
      text += '@';
      at = open + 1;
    } else {
      text += place->second;
      at = close + 1;
    }
  }
  return text;
}

Result<void> write_assets(const fs::path& folder) {
  if (const auto made = make_folder(folder / "assets"); !made) return made;
  if (const auto made = make_folder(folder / "sources"); !made) return made;
  for (int i = 0; i < kAssets; ++i) {
    const Asset one = asset(i);
    if (const auto written = write_file(folder / "assets" / one.name, one.content); !written) return written;
  }
  return {};
}

// A source is a script, so that a page opened from a file can load it when it is looked at.
Result<void> write_sources(const std::map<std::string, std::string>& sources, const fs::path& folder) {
  for (const auto& [sha, text] : sources) {
    const std::string script = "onelaunchSource(\"" + sha + "\"," +
                               Json(text).dump(-1, ' ', true, Json::error_handler_t::replace) + ");\n";
    if (const auto written = write_file(folder / "sources" / (sha + ".js"), script); !written) return written;
  }
  return {};
}

Result<void> write_session(const SessionDocument& session, const fs::path& folder, const std::string& page, bool board) {
  if (const auto written = write_sources(session.sources, folder); !written) return written;
  const std::string back = board ? "<a href=\"index.html\">All sessions</a>" : "";
  return write_file(folder / page, filled(session_page(), {{"TITLE", html_text(session.title)},
                                                           {"DATA", script_text(session.json)},
                                                           {"BOARD", back}}));
}

// A file name that no other page of the site has.
std::string page_name(const std::string& run, std::set<std::string>& taken) {
  std::string base;
  for (const char c : fs::path(run).filename().string())
    base += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '-';
  if (base.empty()) base = "run";
  base = "session-" + base.substr(0, 100);
  std::string name = base + ".html";
  for (int n = 2; !taken.insert(name).second; ++n) name = base + "-" + std::to_string(n) + ".html";
  return name;
}

// run -> page, for the runs that got one.
Result<std::map<std::string, std::string>> write_sessions(const std::vector<std::string>& runs, const fs::path& folder) {
  std::map<std::string, std::string> pages;
  std::set<std::string> taken;
  for (const std::string& run : runs) {
    const Result<SessionDocument> session = session_document(run);
    if (!session) continue;
    const std::string page = page_name(run, taken);
    if (const auto written = write_session(*session, folder, page, true); !written) return because(written.error());
    pages[run] = page;
  }
  return pages;
}

}  // namespace

Result<void> write_board_site(const Board& board, const fs::path& folder) {
  if (const auto written = write_assets(folder); !written) return written;
  std::vector<std::string> runs;
  for (const BoardRow& row : board.rows) {
    runs.push_back(row.run);
    runs.insert(runs.end(), row.other_runs.begin(), row.other_runs.end());
  }
  const auto pages = write_sessions(runs, folder);
  if (!pages) return because(pages.error());
  Json json = Json::parse(print_board(board, BoardFormat::json), nullptr, false);
  if (json.is_discarded()) return fail(Error::Kind::internal, "the board is no JSON");
  for (Json& row : json["rows"]) {
    if (const auto page = pages->find(row["run"].get<std::string>()); page != pages->end()) row["page"] = page->second;
    for (const Json& run : row["other_runs"])
      if (const auto page = pages->find(run.get<std::string>()); page != pages->end()) row["other_pages"].push_back(page->second);
  }
  const std::string data = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return write_file(folder / "index.html", filled(board_page(), {{"TITLE", "onelaunch leaderboard"}, {"DATA", script_text(data)}}));
}

Result<void> write_session_site(const fs::path& run, const fs::path& folder) {
  const Result<SessionDocument> session = session_document(run);
  if (!session) return because(session.error());
  if (const auto written = write_assets(folder); !written) return written;
  return write_session(*session, folder, "index.html", false);
}

}  // namespace onelaunch::traces
