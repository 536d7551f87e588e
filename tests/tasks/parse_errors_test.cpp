// Bad task files: every error names the file, the line, the rule and the way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tasks/minimal_task.h"

namespace onelaunch::tasks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// One change to the minimal file, and what must be said about it.
struct BadFile {
  const char* name;
  std::string from, to;
  std::string at;  // a text in the changed line
  std::string says;
};

void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

class BadTaskFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadTaskFile, IsRefusedWithItsLineAndRule) {
  const std::string text = replaced(minimal_task(), GetParam().from, GetParam().to);
  const Result<Task> task = parse_task(text, "some/task.json", "");
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().kind, Error::Kind::invalid_input);
  const std::string place = "some/task.json:" + std::to_string(line_of(text, GetParam().at)) + ": ";
  EXPECT_THAT(task.error().message,
              AllOf(StartsWith(place), HasSubstr(GetParam().says), HasSubstr("Rule: "), HasSubstr("Fix: ")));
}

const BadFile kBadFiles[] = {
    {"UnknownField", R"("title": "A)", R"("titel": "A)", "titel", "did you mean \"title\"?"},
    {"UnknownFieldInATensor", R"("strict": {"normal": 0.25)", R"("stict": {"normal": 0.25)", "stict",
     "did you mean \"strict\"?"},
    {"MissingField", "  \"rules\": \"None.\",\n", "", "{", "a task lacks the field \"rules\""},
    {"WrongFormat", "onelaunch.task/1", "onelaunch.task/9", "task/9", "this program reads onelaunch.task/1"},
    {"WrongType", R"("rules": "None.")", R"("rules": 5)", "\"rules\"", "is an integer"},
    {"TaskNameWithASlash", R"("name": "small")", R"("name": "../small")", "../small", "cannot be a task's name"},
    {"DimOfZero", "\"layers\": 2", "\"layers\": 0", "\"layers\": 0", "dims are 1 to 2^31"},
    {"DimThatIsAKeyword", "\"kv\": 64", "\"kv\": 64, \"union\": 1", "\"union\"", "cannot be a dim"},
    {"DimOfAFraction", "\"kv\": 64", "\"kv\": 64.5", "64.5", "is a number"},
    {"ReservedDim", "\"kv\": 64", "\"kv\": 64, \"capacity\": 1", "\"capacity\": 1", "\"capacity\" is reserved"},
    {"UnknownDimInAShape", R"("shape": ["kv", "hidden"])", R"("shape": ["kw", "hidden"])", "\"kw\"",
     "no dim or index is named \"kw\""},
    {"UnknownDtype", R"("layer.{i}.k", "dtype": "bf16")", R"("layer.{i}.k", "dtype": "fp8")", "fp8",
     "f32, bf16, u8 or i32"},
    {"CapacityInAWeight", R"("shape": ["kv", "hidden"])", R"("shape": ["capacity", "hidden"])",
     R"(["capacity", "hidden"])", "no cache's rows"},
    {"EmptyShape", R"("shape": ["kv", "hidden"])", R"("shape": [])", R"("shape": [])", "1 to 4 extents"},
    {"HugeTensor", R"("shape": ["kv", "hidden"])", R"("shape": [2000000000, 2000000000])", "2000000000", "2^40 bytes"},
    {"UndrawnWeight", R"("shape": ["kv", "hidden"], "nominal": {"normal": 0.02})", R"("shape": ["kv", "hidden"])",
     "layer.{i}.k\"", "lacks the field \"nominal\""},
    {"UnknownDistribution", R"("nominal": {"normal": 1})", R"("nominal": {"uniform": 1})", "uniform",
     "{\"normal\": s}"},
    {"NegativeScale", R"("nominal": {"normal": 1})", R"("nominal": {"normal": -1})", "\"normal\": -1",
     "the scale is positive"},
    {"SwingOfAWeight", R"("strict": {"normal": 0.25)", R"("strict": {"swing": 1, "normal": 0.25)", "\"swing\"",
     "only inputs have a"},
    {"HugeSwing", R"("shape": ["hidden"], "nominal": {"normal": 1})",
     R"("shape": ["hidden"], "nominal": {"normal": 1, "swing": 17})", "17", "a swing outside 0 to 16"},
    {"MarkedState", R"({"normal": 0.5, "spread": 2})", R"({"normal": 0.5, "marked": 0})", "\"marked\"",
     "only weights have"},
    {"LoudInt4Weight", R"("group": 128}, "nominal": {"normal": 0.02})",
     R"("group": 128}, "nominal": {"normal": 0.02, "marked": 2})", "\"marked\"",
     "int4 weights may only have \"marked\": 0"},
    {"DrawnOutput", R"("name": "y", "dtype": "bf16", "shape": ["hidden"])",
     R"("name": "y", "dtype": "bf16", "shape": ["hidden"], "nominal": "zero")", "\"name\": \"y\"",
     "unknown field \"nominal\" in an output"},
    {"GroupOf64", R"("group": 128)", R"("group": 64)", "\"group\": 64", "the group of an int4 weight is 128"},
    {"Int4State", R"("shape": ["capacity", "kv"], "nominal")", R"("int4": {}, "nominal")", "\"int4\": {}",
     "unknown field \"int4\" in a state"},
    {"NameThatIsAKeyword", "\"layer.{i}.k\", \"dtype\"", "\"layer.{i}.float\", \"dtype\"", "layer.{i}.float",
     "taken by C++"},
    {"NameOfTheHarness", R"("name": "token")", R"("name": "scratch")", "\"name\": \"scratch\"", "already has"},
    {"DuplicateName", "\"layer.{i}.k\", \"dtype\"", "\"layer.{i}.norm\", \"dtype\"", "\"kv\", \"hidden\"", "collides"},
    {"PrefixName", "\"name\": \"token\"", "\"name\": \"layer\"", "\"name\": \"layer\"", "collides"},
    {"GapInAnArray", "\"layer.{i}.k\", \"dtype\"", "\"k.{i+1}.w\", \"dtype\"", "k.{i+1}.w", "run from 0 without gaps"},
    {"UnequalElements", "\"layer.{i}.k\", \"dtype\": \"bf16\", \"shape\": [\"kv\", \"hidden\"]",
     "\"layer.0.k{i}\", \"dtype\": \"bf16\", \"shape\": [\"kv\", \"hidden\"]", "layer.{i}.norm",
     "all elements of an array have the same members"},
    {"BadSubstitution", "\"layer.{i}.k\", \"dtype\"", "\"layer.{j}.k\", \"dtype\"", "layer.{j}.k",
     "no dim or index is named \"j\""},
    {"IndexThatIsADim", R"({"for": {"i": "layers"}, "each": [{"use")", R"({"for": {"kv": "layers"}, "each": [{"use")",
     "{\"for\": {\"kv\"", "cannot be an index"},
    {"EndlessRepetition", R"({"for": {"i": "layers"}, "each": [)", R"({"for": {"i": 1000000000}, "each": [)",
     "1000000000", "more than 20000 entries"},
    {"UnknownBlock", R"({"use": "up")", R"({"use": "down")", "\"use\": \"down\"", "no block is named \"down\""},
    {"UnknownInput", R"(["x.{n}", "layer.{n}.u"])", R"(["x.{n}", "layer.{n}.w"])", "layer.{n}.w",
     "\"layer.0.w\" is not known here"},
    {"ResultUsedTooEarly", R"("in": ["layer.{n}.k_new"])", R"("in": ["layer.{n}.u"])", R"("in": ["layer.{n}.u"])",
     "\"layer.0.u\" is not known here"},
    {"WrittenTwice", R"("out": ["layer.{n}.u"])", R"("out": ["layer.{n}.xn"])", R"("out": ["layer.{n}.xn"], "round")",
     "written a second time"},
    {"WrittenWeight", R"("out": ["layer.{n}.u"])", R"("out": ["layer.{n}.norm"])", R"("out": ["layer.{n}.norm"])",
     "cannot write"},
    {"UnwrittenOutput", "\"x.{layers}\": \"y\"", "\"x.9\": \"y\"", "\"name\": \"y\"", "no op writes the output \"y\""},
    {"UnusedWeight", R"({"name": "layer.{i}.k", "dtype")",
     R"({"name": "layer.{i}.z", "dtype": "bf16", "shape": [1], "nominal": "zero"}, {"name": "layer.{i}.k", "dtype")",
     "layer.{i}.z", "no op uses \"layer.0.z\""},
    {"UnknownRounding", R"("out": ["layer.{n}.u"], "round": "bf16")", R"("out": ["layer.{n}.u"], "round": "fp16")",
     "fp16", "bf16 or f32"},
    {"AliasOfNothing", "\"x.0\": \"token\"", "\"x.0\": \"tokn\"", "tokn", "names no tensor"},
    {"EmptySweep", R"("sweep": [{"context": 8, "steps": 2}])", R"("sweep": [])", "\"sweep\": []", "an empty sweep"},
    {"NoSteps", R"({"context": 8, "steps": 2})", R"({"context": 8, "steps": 0})", "\"steps\": 0", "out of range"},
    {"LooseTolerance", R"("rel_l2": 0.02)", R"("rel_l2": 2)", "\"rel_l2\": 2", "limits are between 0 and 1"},
    {"ToleranceOfNothing", "layer.*.cache", "layer.*.cash", "cash", "matches no state or output"},
    {"VariantOfAnUnknownDim", R"("dims": {"hidden": 128})", R"("dims": {"hiden": 128})", "hiden", "the task lacks"},
};

INSTANTIATE_TEST_SUITE_P(Each, BadTaskFile, ::testing::ValuesIn(kBadFiles),
                         [](const auto& one) { return one.param.name; });

TEST(ParseErrors, NameTheOpThatDoesNotFit) {
  const std::string text = replaced(minimal_task(), "\"kind\": \"rmsnorm\"", "\"kind\": \"rmsnrm\"");
  const Result<Task> task = parse_task(text, "task.json", "");
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("line " + std::to_string(line_of(text, "rmsnrm"))));
  EXPECT_THAT(task.error().message, AllOf(StartsWith("task.json"), HasSubstr("rmsnrm")));
}

TEST(ParseErrors, NameTheKnownVariants) {
  const Result<Task> task = parse_task(minimal_task(), "task.json", "huge");
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, AllOf(HasSubstr("no variant is named \"huge\""), HasSubstr("full, tiny")));
}

TEST(ParseErrors, SurviveAFileCutAtEveryPosition) {
  const std::string text = minimal_task();
  for (std::size_t length = 0; length + 2 < text.size(); ++length)
    ASSERT_FALSE(parse_task(text.substr(0, length), "task.json", "")) << length;
}

TEST(ParseErrors, StopBlocksThatUseThemselves) {
  const std::string text = replaced(minimal_task(), R"("up": [)", R"("up": [{"use": "up", "with": {"n": "n"}},)");
  const Result<Task> task = parse_task(text, "task.json", "");
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("a block must not use itself"));
}

}  // namespace
}  // namespace onelaunch::tasks
