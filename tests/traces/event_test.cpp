#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/traces/sample_events.h"
#include "tests/traces/schema_check.h"
#include "traces/event_json.h"

namespace onelaunch::traces {
namespace {

Record record_of(Event event) {
  return {.seq = 41, .t = 12.5, .ts = "2026-12-01T05:09:06.123Z", .prev = some_hash('0'), .event = std::move(event)};
}

Result<ParsedLine> parse(std::string line, Strictness strictness = Strictness::strict) {
  const std::size_t size = line.size();
  line.resize(size + LineParser::padding());
  return LineParser(strictness).parse(std::string_view(line.data(), size));
}

std::string printed(Event event) {
  const Result<std::string> line = print_record(record_of(std::move(event)));
  return line ? *line : "failed: " + line.error().message;
}

TEST(Event, OfEveryTypeComesBackWithAllItsFields) {
  const std::vector<Event> events = full_events(some_hash('d'));
  ASSERT_EQ(events.size(), std::variant_size_v<Event>);
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].index(), i) << "one of each type, in order";
    const std::string line = printed(events[i]);
    EXPECT_EQ(schema_problem(line), "") << line;
    const Result<ParsedLine> back = parse(line);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(back->known);
    EXPECT_EQ(back->record.seq, 41u);
    EXPECT_EQ(back->record.t, 12.5);
    EXPECT_EQ(back->record.event.index(), i);
    EXPECT_EQ(print_record(back->record).value(), line) << "every field is read, or printing again would lose it";
  }
}

TEST(Event, KeepsThe64BitsOfASeed) {
  const Result<ParsedLine> back = parse(printed(Regrade{.candidate = "c", .outcome = "passed", .kind = "modelled", .times = {}, .seed = ~0ull}));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<Regrade>(back->record.event).seed, ~0ull);
}

TEST(Event, ReplacesInvalidUtf8) {
  const std::string line = printed(Note{.author = "", .text = std::string("bad \xff\xc3 byte\0", 12) + "\x1b[2J"});
  EXPECT_NE(line.find("bad \xef\xbf\xbd"), std::string::npos) << line;
  EXPECT_EQ(line.find('\x1b'), std::string::npos) << "control characters are escaped";
  EXPECT_TRUE(parse(line));
}

TEST(Event, LeavesOutAnOptionalNumberThatIsNotFinite) {
  Gate gate{.candidate = "c1", .stage = "correctness", .verdict = "fail", .test = "", .tensor = ""};
  gate.got = std::nan("");
  gate.want = std::numeric_limits<double>::infinity();
  const std::string line = printed(gate);
  EXPECT_EQ(line.find("\"got\""), std::string::npos);
  EXPECT_EQ(line.find("\"want\""), std::string::npos);
  EXPECT_EQ(schema_problem(line), "");
}

TEST(Event, IsRefusedWhenARequiredNumberIsNotFinite) {
  const auto line = print_record(record_of(Wait{.what = "lock", .seconds = std::nan("")}));
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().kind, Error::Kind::internal);
  EXPECT_EQ(line.error().message, "event wait: seconds is not a finite number");
}

TEST(Event, IsRefusedWhenAnItemOfAListIsNotFinite) {
  Measurement m{.candidate = "c", .kind = "modelled", .context = 1, .raw = {1, std::nan("")}, .phases = {}};
  EXPECT_EQ(printed(m), "failed: event measurement: raw: item is not a finite number");
}

TEST(Event, IsRefusedWithAWordThatTheFormatDoesNotKnow) {
  EXPECT_EQ(printed(Decision{.candidate = "c", .verdict = "kepp", .outcome = "passed", .incumbent = "", .reason = ""}),
            "failed: event decision: verdict cannot be \"kepp\"");
}

TEST(Event, IsRefusedWithAHashThatIsNone) {
  EXPECT_EQ(printed(Checkpoint{.candidate = "c", .source_sha256 = "../x", .cubin_sha256 = ""}),
            "failed: event checkpoint: source_sha256 is not a SHA-256: \"../x\"");
}

TEST(Event, IsRefusedWithANegativeNumberWhereNoneCanBe) {
  EXPECT_EQ(printed(Wait{.what = "lock", .seconds = -1}), "failed: event wait: seconds is negative");
  EXPECT_EQ(printed(Noise{.half_width = 0.5, .n = -3}), "failed: event noise: n is negative");
}

std::string with(std::string line, const std::string& from, const std::string& to) {
  return line.replace(line.find(from), from.size(), to);
}

TEST(LineParser, PassesOverUnknownFields) {
  const auto parsed = parse(with(printed(Note{.author = "", .text = "x"}), "\"text\"", "\"later\":{\"a\":[1]},\"text\""));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(std::get<Note>(parsed->record.event).text, "x");
}

TEST(LineParser, ReportsAnUnknownType) {
  const auto parsed = parse(with(printed(Note{.author = "", .text = "x"}), "\"note\"", "\"hologram\""));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_FALSE(parsed->known);
  EXPECT_EQ(parsed->type, "hologram");
}

TEST(LineParser, AcceptsAWholeNumberWhereAFractionMayStand) {
  const auto parsed = parse(with(printed(Wait{.what = "x", .seconds = 2.5}), "\"seconds\":2.5", "\"seconds\":2"));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(std::get<Wait>(parsed->record.event).seconds, 2);
}

TEST(LineParser, SaysWhatIsWrong) {
  const std::string note = printed(Note{.author = "", .text = "x"}), wait = printed(Wait{.what = "x", .seconds = 2.5});
  const auto reason = [](const std::string& line) {
    const auto parsed = parse(line);
    return parsed ? std::string("nothing") : parsed.error().message;
  };
  EXPECT_EQ(reason(with(note, "\"text\":\"x\",", "")), "note: text is missing");
  EXPECT_EQ(reason(with(note, "\"x\"", "7")), "note: text is not a string");
  EXPECT_EQ(reason(with(wait, "\"seconds\":2.5", "\"seconds\":\"2.5\"")), "wait: seconds is not a number");
  EXPECT_EQ(reason(with(note, "\"v\":1", "\"v\":2")), "trace version 2, this build reads version 1");
  EXPECT_EQ(reason(with(note, "\"seq\":41", "\"seq\":-1")), "seq is not a whole number from 0 to 2^64 - 1");
  EXPECT_EQ(reason(with(note, "2026-", "26-")), "ts is not a UTC time");
  EXPECT_EQ(reason("[1]"), "not a JSON object");
  EXPECT_EQ(reason(with(wait, "\"seconds\":2.5", "\"seconds\":NaN")).substr(0, 8), "not JSON");
  EXPECT_EQ(reason(with(note, "\"x\"", "\"\xff\"")).substr(0, 8), "not JSON");
  EXPECT_EQ(reason("").substr(0, 8), "not JSON");
}

TEST(LineParser, IsStrictOnlyWhenAsked) {
  const std::string line = with(printed(Decision{.candidate = "c", .verdict = "keep", .outcome = "passed", .incumbent = "", .reason = ""}),
                                "\"keep\"", "\"shelve\"");
  EXPECT_TRUE(parse(line, Strictness::lenient));
  EXPECT_FALSE(parse(line, Strictness::strict));
  EXPECT_NE(schema_problem(line), "");
}

}  // namespace
}  // namespace onelaunch::traces
