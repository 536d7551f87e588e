#include "sandbox/protocol/messages.h"

#include <gtest/gtest.h>

#include "sandbox/protocol/outcome.h"

namespace onelaunch::sandbox {
namespace {

RunJob a_job() {
  RunJob job;
  job.fills.push_back({"scratch", true, 7});
  job.writes.push_back({"token", 2, std::string("\0\xff\x01", 3)});
  LaunchOrder order;
  order.entry = "megakernel";
  order.grid = 132;
  order.parameters = std::string(64, '\0');
  order.relocations.push_back({8, "weights w", 16});
  order.cooperative = false;
  job.launches.push_back(order);
  job.keep.assign(3, order);
  job.again = {1, 2};
  job.reads.push_back({"y", 0, 512, true});
  return job;
}

TEST(Messages, ComeBackAsTheyWereSent) {
  const auto job = decode_run_job(encode(a_job()));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->writes.at(0).bytes, std::string("\0\xff\x01", 3));
  EXPECT_EQ(job->launches.at(0).relocations.at(0).buffer, "weights w");
  EXPECT_FALSE(job->launches.at(0).cooperative);
  EXPECT_EQ(job->keep.size(), 3u);
  EXPECT_EQ(job->again.first, 1u);
  EXPECT_EQ(job->again.count, 2u);
  EXPECT_TRUE(job->reads.at(0).digest);
  EXPECT_EQ(kind_of_message(encode(a_job())), "run");
}

TEST(Messages, NameKeptLaunchesThatAreThere) {
  EXPECT_TRUE(is_part({1, 2}, 3));
  EXPECT_TRUE(is_part({3, 0}, 3));
  EXPECT_FALSE(is_part({2, 2}, 3));
  EXPECT_FALSE(is_part({4, 0}, 3));
  EXPECT_FALSE(is_part({1, ~std::uint64_t{0}}, 3));
}

TEST(Messages, CarryTimedChainsAndTheirSamples) {
  TimeJob job;
  job.chains.resize(2);
  job.chains[1].launches = a_job().launches;
  job.order = {0, 1, 1, 0};
  job.cold = true;
  const auto sent = decode_time_job(encode(job));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->order, job.order);
  EXPECT_EQ(sent->chains.at(1).launches.at(0).relocations.at(0).addend, 16u);
  TimeReply reply;
  reply.samples.push_back({1, 2500.5, 2510, 80, {1980, 3201, 650000, 45, 4}, {"y"}});
  const auto answered = decode_time_reply(encode(reply));
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->samples.at(0).device_us, 2500.5);
  EXPECT_EQ(answered->samples.at(0).clocks.throttle_reasons, 4u);
  EXPECT_FALSE(decode_count_reply(encode(reply)));
}

TEST(Messages, AreRefusedWhenCutOffAnywhere) {
  const std::string whole = encode(a_job());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(decode_run_job(whole.substr(0, length))) << length;
  EXPECT_FALSE(decode_run_job(whole + "x"));
}

TEST(Messages, AreRefusedWhenOfAnotherKindOrWithValuesOutOfRange) {
  EXPECT_FALSE(decode_run_reply(encode(a_job())));
  CompileReply reply;
  reply.status = static_cast<CompileReply::Status>(99);
  EXPECT_FALSE(decode_compile_reply(encode(reply)));
}

TEST(Outcomes, HaveNamesAndExplanations) {
  EXPECT_STREQ(name_of(Outcome(TimedOut{"the launch", 2})), "timed_out");
  EXPECT_EQ(explain(TimedOut{"the launch", 2}), "ran out of time: the launch took longer than 2 s");
  EXPECT_STREQ(name_of(Outcome(Refused{"grid", "too large"})), "refused");
}

}  // namespace
}  // namespace onelaunch::sandbox
