#pragma once
// One HTTP POST at a time whose answer comes in pieces, with our own watchdogs: libcurl's average out a silent stream.

#include <curl/curl.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace onelaunch::llm {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "name: value"
  std::string body;
};

struct HttpLimits {
  Seconds connect, first_byte, idle, linger;
  std::size_t bytes_max;
};

using HttpHeaders = std::map<std::string, std::string>;  // names in lower case

enum class HttpEnd {
  complete,       // the server said that this was all
  enough,         // the reader had what it needs
  no_connection,  // nothing was ever received
  unusable,       // our own fault: address, certificate, protocol; the same again will not help
  broken,         // the connection ended before the answer did
  silent,         // a watchdog bit
  too_large,
  deadline,
  stopped,
};

struct HttpAnswer {
  HttpEnd end = HttpEnd::no_connection;
  int status = 0;  // 0: no answer
  HttpHeaders headers;
  std::string why;  // of every end but complete and enough
};

// What the reader of an answer wants next.
enum class Appetite {
  more,
  nearly,  // the reply is complete, some servers say more: wait up to HttpLimits::linger
  done,    // complete, and the server knows: wait a moment for it to close, so that the connection can be used again
  spoilt,  // cannot be read: hang up
};

class HttpClient {
 public:
  static Result<std::unique_ptr<HttpClient>> open(const Clock& clock);  // the clock outlives the client
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  using Reader = std::function<Appetite(const HttpAnswer& so_far, std::string_view bytes)>;
  HttpAnswer post(const HttpRequest& request, const HttpLimits& limits, Deadline deadline, const Reader& reader);
  // Waits; false when stopped meanwhile.
  bool wait(Deadline until);
  void stop();  // any thread; final
  bool stopped() const { return stopped_.load(); }

 private:
  struct Exchange;
  struct CloseMulti {
    void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
  };
  struct CloseEasy {
    void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
  };
  explicit HttpClient(const Clock& clock);
  void set_up(const HttpRequest& request, const HttpLimits& limits, Exchange& exchange, curl_slist* headers);
  void run(const HttpLimits& limits, Deadline deadline, Exchange& exchange);
  bool check(const HttpLimits& limits, Deadline deadline, Exchange& exchange) const;
  void poll(Seconds at_most);

  const Clock& clock_;
  std::atomic<bool> stopped_{false};
  bool fresh_ = false;  // the last exchange left its connection in an unknown state
  std::unique_ptr<CURLM, CloseMulti> multi_;
  std::unique_ptr<CURL, CloseEasy> easy_;
};

// "http://127.0.0.1:8000/v1" and the like: no proxy can reach what they mean.
bool is_loopback(const std::string& url);

}  // namespace onelaunch::llm
