#include "agent/llm/http.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace onelaunch::llm {
namespace {

// The longest we sleep without looking at our clock: a test's clock jumps.
constexpr Seconds kPoll{0.1};
// After `done`: long enough for the end of a chunked body to arrive, short enough to hang up otherwise.
constexpr Seconds kLinger{0.25};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// libcurl does not read these, its command does; behind a company's proxy they are often the only way.
void trust_what_the_environment_says(CURL* easy) {
  std::string file = environment("CURL_CA_BUNDLE");
  if (file.empty()) file = environment("SSL_CERT_FILE");
  if (!file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, file.c_str());
  if (const std::string folder = environment("SSL_CERT_DIR"); !folder.empty())
    curl_easy_setopt(easy, CURLOPT_CAPATH, folder.c_str());
}

bool is_our_fault(CURLcode code, CURL* easy) {
  long sent = 0;  // an answer that is no HTTP has the code of an unknown protocol
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent);
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
      return sent == 0;
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ENGINE_NOTFOUND:
      return true;
    default:
      return false;
  }
}

std::string seconds_text(Seconds seconds) { return std::to_string(static_cast<long>(seconds.count() + 0.5)) + " s"; }

}  // namespace

struct HttpClient::Exchange {
  const Clock& clock;
  const Reader& reader;
  std::size_t bytes_max;
  CURL* easy;
  HttpAnswer answer;
  Seconds begun, last_byte, satisfied_at{};
  std::size_t bytes = 0;
  bool heard = false, ended = false;
  Appetite appetite = Appetite::more;
  std::string url;

  void end(HttpEnd how, std::string why) {
    answer.end = how;
    answer.why = std::move(why);
    ended = true;
  }

  void note_life() {
    heard = true;
    last_byte = clock.now();
  }

  bool satisfied() const { return appetite == Appetite::nearly || appetite == Appetite::done; }

  static std::size_t header(char* data, std::size_t, std::size_t size, void* self) {
    Exchange& exchange = *static_cast<Exchange*>(self);
    exchange.note_life();
    const std::string_view line(data, size);
    if (line.starts_with("HTTP/")) exchange.answer.headers.clear();  // what came before was provisional
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos)
      exchange.answer.headers[lower(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
    return size;
  }

  static std::size_t body(char* data, std::size_t, std::size_t size, void* self) {
    Exchange& exchange = *static_cast<Exchange*>(self);
    exchange.note_life();
    exchange.read_status();
    exchange.bytes += size;
    if (exchange.bytes > exchange.bytes_max) {
      exchange.end(HttpEnd::too_large, "the answer is longer than " + std::to_string(exchange.bytes_max) + " bytes");
      return 0;
    }
    const bool was_satisfied = exchange.satisfied();
    exchange.appetite = exchange.reader(exchange.answer, {data, size});
    if (exchange.satisfied() && !was_satisfied) exchange.satisfied_at = exchange.last_byte;
    return exchange.appetite == Appetite::spoilt ? 0 : size;
  }

  void read_status() {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
  }
};

Result<std::unique_ptr<HttpClient>> HttpClient::open(const Clock& clock) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<HttpClient> client(new HttpClient(clock));
  if (ready != CURLE_OK || !client->multi_ || !client->easy_) return unavailable("libcurl does not start");
  return client;
}

HttpClient::HttpClient(const Clock& clock) : clock_(clock), multi_(curl_multi_init()), easy_(curl_easy_init()) {}
HttpClient::~HttpClient() = default;

void HttpClient::stop() {
  stopped_ = true;
  curl_multi_wakeup(multi_.get());
}

void HttpClient::poll(Seconds at_most) {
  const auto ms = static_cast<int>(std::clamp(at_most, Seconds(0), kPoll).count() * 1000) + 1;
  curl_multi_poll(multi_.get(), nullptr, 0, ms, nullptr);
}

bool HttpClient::wait(Deadline until) {
  while (!stopped() && !until.passed(clock_)) poll(until.left(clock_));
  return !stopped();
}

HttpAnswer HttpClient::post(const HttpRequest& request, const HttpLimits& limits, Deadline deadline,
                            const Reader& reader) {
  Exchange exchange{clock_, reader, limits.bytes_max, easy_.get()};
  exchange.begun = exchange.last_byte = clock_.now();
  exchange.url = request.url;
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  // Without this a large body waits for a "100 Continue" that many servers never send.
  list = curl_slist_append(list, "Expect:");
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(list, curl_slist_free_all);
  set_up(request, limits, exchange, headers.get());
  curl_multi_add_handle(multi_.get(), easy_.get());
  run(limits, deadline, exchange);
  curl_multi_remove_handle(multi_.get(), easy_.get());
  exchange.read_status();
  fresh_ = exchange.answer.end != HttpEnd::complete;
  curl_easy_reset(easy_.get());  // no pointer into this call stays behind
  return std::move(exchange.answer);
}

void HttpClient::set_up(const HttpRequest& request, const HttpLimits& limits, Exchange& exchange, curl_slist* headers) {
  CURL* easy = easy_.get();
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);  // a redirect would carry the key elsewhere
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh_ ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(limits.connect.count() * 1000)));
  if (is_loopback(request.url)) curl_easy_setopt(easy, CURLOPT_PROXY, "");
  trust_what_the_environment_says(easy);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Exchange::header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Exchange::body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
}

void HttpClient::run(const HttpLimits& limits, Deadline deadline, Exchange& exchange) {
  while (!exchange.ended) {
    int running = 0;
    if (const CURLMcode code = curl_multi_perform(multi_.get(), &running); code != CURLM_OK)
      return exchange.end(HttpEnd::broken, curl_multi_strerror(code));
    if (exchange.ended) return;
    if (exchange.appetite == Appetite::spoilt) return exchange.end(HttpEnd::enough, "");
    int queued = 0;
    if (const CURLMsg* message = curl_multi_info_read(multi_.get(), &queued)) {
      const CURLcode code = message->data.result;
      const std::string why = curl_easy_strerror(code);
      if (code == CURLE_OK) return exchange.end(HttpEnd::complete, "");
      if (is_our_fault(code, easy_.get())) return exchange.end(HttpEnd::unusable, why);
      return exchange.end(exchange.heard ? HttpEnd::broken : HttpEnd::no_connection, why);
    }
    if (check(limits, deadline, exchange)) poll(deadline.left(clock_));
  }
}

// Ends the exchange when a limit is reached; true while it may go on.
bool HttpClient::check(const HttpLimits& limits, Deadline deadline, Exchange& exchange) const {
  const Seconds now = clock_.now();
  const Seconds linger = exchange.appetite == Appetite::done ? std::min(kLinger, limits.linger) : limits.linger;
  if (exchange.satisfied() && (now - exchange.satisfied_at >= linger || deadline.passed(clock_) || stopped()))
    exchange.end(HttpEnd::enough, "");
  else if (stopped())
    exchange.end(HttpEnd::stopped, "stopped");
  else if (deadline.passed(clock_))
    exchange.end(HttpEnd::deadline, "the deadline passed");
  else if (!exchange.heard && now - exchange.begun >= limits.first_byte)
    exchange.end(HttpEnd::silent, "no byte within " + seconds_text(limits.first_byte));
  else if (exchange.heard && now - exchange.last_byte >= limits.idle)
    exchange.end(HttpEnd::silent, "silent for " + seconds_text(limits.idle));
  return !exchange.ended;
}

bool is_loopback(const std::string& url) {
  const std::size_t scheme = url.find("://");
  std::string host = url.substr(scheme == std::string::npos ? 0 : scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const std::size_t user = host.rfind('@'); user != std::string::npos) host.erase(0, user + 1);
  if (host.starts_with("[")) return host.starts_with("[::1]");
  host = lower(host.substr(0, host.find(':')));
  return host == "localhost" || host.starts_with("127.");
}

}  // namespace onelaunch::llm
