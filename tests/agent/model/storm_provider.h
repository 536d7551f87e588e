#pragma once
// A provider in bad weather: every request may fail in one of many ways, and what it answers between is a model at work,
// drawn from a seed. Real HTTP on 127.0.0.1.

#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "agent/loop/stop.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http_server.h"
#include "tests/fakes/fake_model.h"

namespace onelaunch::fakes {

class StormProvider {
 public:
  static constexpr const char* kKey = "sk-test-4711-never-on-disk";
  static constexpr double kSilence_s = 6;  // of the fake clock: what hangs is given up after it. Less than any reserve

  // Borrows the clock, which every request moves on, and the stop request, which some raise.
  StormProvider(std::uint64_t seed, FakeClock& clock, agent::StopRequest& stop);

  std::string name() const;
  std::string model() const;
  std::string url() const { return server_.url(); }
  // What a wish to stop does besides raising it; empty: there is nothing to stop.
  void stops(std::function<void()> how);
  void calm_down();  // no ends, no stops from now on

  std::map<std::string, int> faults() const;  // by kind
  std::string objections() const;             // to requests that a real provider would have refused

 private:
  struct Fault {
    std::string kind;
    int weight;
    std::function<Answer(const HeardRequest&)> how;
  };
  std::vector<Fault> faults_of_http() const;
  std::vector<Fault> faults_of_streams();
  std::vector<Fault> ends() const;
  Answer answer(const HeardRequest& request);
  Answer fault(const HeardRequest& request);
  Answer whole(const HeardRequest& request);
  FakeReply reply();
  FakeCall call();
  Answer cut(const HeardRequest& request, bool reset, bool hang);
  int below(int limit);
  bool chance(int percent) { return below(100) < percent; }

  Api api_;
  FakeClock& clock_;
  agent::StopRequest& stop_;
  std::mt19937_64 random_;
  std::vector<Fault> weather_;
  int numbered_ = 0;
  bool calm_ = false;
  mutable std::mutex mutex_;
  std::function<void()> how_to_stop_;
  std::map<std::string, int> seen_;
  std::string objections_;
  FakeHttpServer server_;  // last: its thread uses the others
};

}  // namespace onelaunch::fakes
