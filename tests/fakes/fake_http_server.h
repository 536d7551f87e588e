#pragma once
// A real HTTP server on 127.0.0.1, in this process, that misbehaves on order. Any number of connections, each request
// answered by a script.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onelaunch::fakes {

struct HeardRequest {
  int number = 0;  // from 0, in order of arrival
  std::string method, target, body;
  std::map<std::string, std::string> headers;  // names in lower case
};

// How one request is answered.
struct Answer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {{"content-type", "text/event-stream"}};
  std::string body;
  std::size_t piece_bytes = 0;                // bytes of body per write; 0: all at once
  std::chrono::milliseconds between{0};       // pause between two writes
  std::size_t cut_after = std::string::npos;  // bytes of body after which the connection ends in the middle
  bool reset = false;                         // it ends by a reset, not by a close
  bool hang_first = false;                    // not one byte is ever sent
  bool hang_after = false;                    // after the body, or its cut, the connection stays open and silent
  bool no_answer = false;                     // closed without a word
  std::string raw;                            // sent instead of everything above
  // Called before every piece but the first, and again and again while it hangs: here a test moves its clock.
  std::function<void()> tick;
};

class FakeHttpServer {
 public:
  using Script = std::function<Answer(const HeardRequest&)>;  // called by one thread at a time
  explicit FakeHttpServer(Script script);
  ~FakeHttpServer();  // ends every connection

  std::string url() const;  // "http://127.0.0.1:PORT"
  int port() const;
  std::vector<HeardRequest> heard() const;
  HeardRequest last() const;
  int connections() const;  // so far

 private:
  class Machinery;
  std::unique_ptr<Machinery> machinery_;
};

}  // namespace onelaunch::fakes
