#include "tests/agent/model/storm_provider.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tests/agent/session_fixture.h"

namespace onelaunch::fakes {
namespace {

constexpr int kFaultPercent = 55;
constexpr Api kApis[] = {Api::anthropic, Api::responses, Api::completions, Api::gemini};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// The provider's own word for how a reply ends.
struct Endings {
  const char *cut_off, *refused, *full;  // null: it has none
};
Endings endings_of(Api api) {
  switch (api) {
    case Api::anthropic:
      return {"max_tokens", "refusal", "model_context_window_exceeded"};
    case Api::responses:
      return {"max_output_tokens", "content_filter", nullptr};
    case Api::completions:
      return {"length", "content_filter", nullptr};
    case Api::gemini:
      return {"MAX_TOKENS", "SAFETY", nullptr};
  }
  return {};
}

}  // namespace

StormProvider::StormProvider(std::uint64_t seed, FakeClock& clock, agent::StopRequest& stop)
    : api_(kApis[seed % 4]),
      clock_(clock),
      stop_(stop),
      random_(seed * 7919),
      server_([this](const HeardRequest& request) { return answer(request); }) {
  for (auto list : {faults_of_http(), faults_of_streams(), ends()}) weather_.insert(weather_.end(), list.begin(), list.end());
}

std::string StormProvider::name() const {
  switch (api_) {
    case Api::anthropic:
      return "anthropic";
    case Api::responses:
      return "openai";
    case Api::completions:
      return "compat";
    case Api::gemini:
      return "gemini";
  }
  return "";
}

std::string StormProvider::model() const { return api_ == Api::anthropic ? "claude-opus-5-5" : "stormy-1"; }

void StormProvider::stops(std::function<void()> how) {
  const std::lock_guard lock(mutex_);
  how_to_stop_ = std::move(how);
}

void StormProvider::calm_down() {
  const std::lock_guard lock(mutex_);
  calm_ = true;
}

std::map<std::string, int> StormProvider::faults() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::string StormProvider::objections() const {
  const std::lock_guard lock(mutex_);
  return objections_;
}

int StormProvider::below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }

std::vector<StormProvider::Fault> StormProvider::faults_of_http() const {
  std::vector<Fault> list;
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529})
    list.push_back({"http_" + std::to_string(status), 4, [this, status](const HeardRequest&) {
                      return error_answer(api_, status, "overloaded_error", "later, " + std::string(kKey));
                    }});
  list.push_back({"retry_after", 2, [this](const HeardRequest&) {
                    Answer answer = error_answer(api_, 429, "rate_limit_error", "slow down");
                    answer.headers.emplace_back("retry-after-ms", "20");
                    return answer;
                  }});
  list.push_back({"retry_after_too_long", 1, [this](const HeardRequest&) {
                    Answer answer = error_answer(api_, 503, "overloaded_error", "tomorrow");
                    answer.headers.emplace_back("retry-after", "86400");
                    return answer;
                  }});
  list.push_back({"hangs_up", 6, [](const HeardRequest&) { return Answer{.no_answer = true}; }});
  list.push_back({"no_http", 3, [](const HeardRequest&) { return Answer{.raw = "this is no HTTP\r\n\r\n"}; }});
  list.push_back({"web_page", 3, [](const HeardRequest&) {
                    return Answer{.headers = {{"content-type", "text/html"}}, .body = "<html>Bad gateway</html>"};
                  }});
  list.push_back({"page_of_1_mb", 1, [](const HeardRequest&) {
                    return Answer{.status = 502, .headers = {{"content-type", "text/plain"}}, .body = std::string(1u << 20, 'x')};
                  }});
  return list;
}

Answer StormProvider::cut(const HeardRequest& request, bool reset, bool hang) {
  Answer answer = whole(request);
  // The last bytes of a stream may be lost without harm.
  const int part = static_cast<int>(answer.body.size()) * 6 / 10;
  answer.cut_after = static_cast<std::size_t>(below(std::max(1, part)));
  answer.reset = reset;
  answer.hang_after = hang;
  return answer;
}

std::vector<StormProvider::Fault> StormProvider::faults_of_streams() {
  std::vector<Fault> list;
  list.push_back({"cut", 8, [this](const HeardRequest& request) { return cut(request, false, false); }});
  list.push_back({"reset", 8, [this](const HeardRequest& request) { return cut(request, true, false); }});
  list.push_back({"ends_too_early", 6, [this](const HeardRequest& request) {
                    Answer answer = whole(request);
                    answer.body.resize(answer.body.size() / 3);
                    return answer;
                  }});
  list.push_back({"hangs", 1, [this](const HeardRequest&) {
                    clock_.advance(kSilence_s + 1);
                    return Answer{.hang_first = true};
                  }});
  list.push_back({"falls_silent", 1, [this](const HeardRequest& request) {
                    clock_.advance(kSilence_s + 1);
                    return cut(request, false, true);
                  }});
  list.push_back({"error_in_stream", 8, [this](const HeardRequest& request) {
                    Answer answer = whole(request);
                    answer.body = answer.body.substr(0, answer.body.find("\n\n") + 2) +
                                  error_event(api_, api_ == Api::gemini ? "UNAVAILABLE" : "overloaded_error", "come back");
                    return answer;
                  }});
  for (const auto& [kind, body] : {std::pair{"empty", ""}, {"half_an_event", "data: {\"half\n\n"},
                                   {"nonsense", "data: [1,2]\n\ndata: \"x\"\n\ndata: {}\n\n"},
                                   {"broken_utf8", "data: {\"type\":\"\xff\xfe\"}\n\n"}})
    list.push_back({kind, 3, [text = std::string(body)](const HeardRequest&) { return Answer{.body = text}; }});
  list.push_back({"drips", 3, [this](const HeardRequest& request) {
                    Answer answer = cut(request, false, false);
                    answer.piece_bytes = 64;
                    return answer;
                  }});
  return list;
}

// What no retry heals.
std::vector<StormProvider::Fault> StormProvider::ends() const {
  const auto error = [this](int status, const char* type, const char* message) {
    return [this, status, type, text = std::string(message) + kKey](const HeardRequest&) {
      return error_answer(api_, status, type, text);
    };
  };
  return {{"bad_key", 1, error(401, "authentication_error", "invalid x-api-key ")},
          {"no_credit", 1, error(402, "billing_error", "no credit ")},
          {"too_long", 2, error(413, "request_too_large", "prompt is too long ")},
          {"bad_request", 1, error(400, "invalid_request_error", "something about thinking blocks ")}};
}

Answer StormProvider::fault(const HeardRequest& request) {
  const int all = std::accumulate(weather_.begin(), weather_.end(), 0, [](int sum, const Fault& f) { return sum + f.weight; });
  int at = below(all);
  for (const Fault& fault : weather_) {
    if ((at -= fault.weight) >= 0) continue;
    ++seen_[fault.kind];
    return fault.how(request);
  }
  return whole(request);
}

Answer StormProvider::answer(const HeardRequest& request) {
  const std::lock_guard lock(mutex_);
  if (const std::string why = objection(api_, request); !why.empty()) objections_ += why + "\n";
  clock_.advance(below(3000) / 1000.0);
  if (!calm_ && below(300) == 0 && how_to_stop_) stop_.raise(), how_to_stop_();
  return chance(kFaultPercent) ? fault(request) : whole(request);
}

Answer StormProvider::whole(const HeardRequest& request) {
  FakeReply said = reply();
  said.input = request.body.size() / 5;
  return answer_with(api_, said, request);
}

FakeCall StormProvider::call() {
  const std::string number = std::to_string(++numbered_);
  const auto named = [&](const char* name, const std::string& arguments) {
    return FakeCall{.id = "call_" + number, .name = name, .arguments = arguments};
  };
  const int draw = below(100);
  if (draw < 45) return named("evaluate", "{\"note\":\"idea " + number + "\",\"defines\":[\"A=" + std::to_string(below(4)) + "\"]}");
  if (draw < 60)
    return named("write_kernel", "{\"source\":" + quoted(std::string(agent::kSeed) + "\nint idea_" + number + ";") + "}");
  if (draw < 75) return named("notes", "{\"text\":\"note " + number + "\"}");
  if (draw < 80) return named("compile", "{}");
  if (draw < 85) return named("read_kernel", "{}");
  if (draw < 88) return named("history", "{}");
  if (draw < 91) return named("revert", "{\"id\":\"c0\"}");
  if (draw < 94) return named("no_such_tool", "{}");
  if (draw < 97) return named("evaluate", "{\"nonsense\":" + number + "}");
  return named("finish", "{\"reason\":\"tired\"}");
}

FakeReply StormProvider::reply() {
  const Endings endings = endings_of(api_);
  FakeReply said{.text = "Let me see – " + std::to_string(numbered_) + ". Größe 核 🚀"};
  if (chance(50) && api_ != Api::completions) said.thinking = "What if? 核";
  said.output = 20 + static_cast<std::uint64_t>(below(100));
  const int draw = below(100);
  if (draw < 3) return said;
  if (draw < 5) return said.ending = endings.cut_off, said;
  if (draw < 7) return said.text.clear(), said.thinking.clear(), said.ending = endings.refused, said.detail = "no", said;
  if (draw < 9 && endings.full != nullptr) return said.ending = endings.full, said;
  said.calls.push_back(call());
  while (chance(25)) said.calls.push_back(call());
  return said;
}

}  // namespace onelaunch::fakes
