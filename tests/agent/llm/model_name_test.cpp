#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "agent/llm/address.h"
#include "agent/llm/http.h"
#include "tests/agent/llm/chat_fixture.h"
#include "tests/agent/llm/variables.h"
#include "tests/agent/temporary_folder.h"

namespace onelaunch::llm {
namespace {

TEST(ModelName, IsReadFromTheAgentsName) {
  const auto parsed = [](const char* agent) {
    const auto name = parse_model_name(agent);
    return name ? name->provider + "|" + name->model + "|" + name->base_url : "error";
  };
  EXPECT_EQ(parsed("anthropic:claude-opus-5-5"), "anthropic|claude-opus-5-5|");
  EXPECT_EQ(parsed("openai:gpt-6.2-sol"), "openai|gpt-6.2-sol|");
  EXPECT_EQ(parsed("gemini:gemini-4-neon"), "gemini|gemini-4-neon|");
  EXPECT_EQ(parsed("compat:qwen/q:4b@http://127.0.0.1:8000/v1"), "compat|qwen/q:4b|http://127.0.0.1:8000/v1");
  EXPECT_EQ(parsed("compat:m@v2@https://h/x@y"), "compat|m@v2|https://h/x@y");
  EXPECT_EQ(parsed("compat:m"), "compat|m|");
  for (const char* wrong : {"", "tuner", "anthropic:", "mistral:m", "compat:@http://h", "compat:m@localhost:8000"})
    EXPECT_EQ(parsed(wrong), "error") << wrong;
  EXPECT_NE(parse_model_name("gpt").error().message.find("compat:MODEL@URL"), std::string::npos);
}

TEST(Address, TakesABaseWithAndWithoutAVersion) {
  EXPECT_EQ(api_url("https://a.b", "/v1", "/messages"), "https://a.b/v1/messages");
  EXPECT_EQ(api_url("https://a.b/v1/", "/v1", "/messages"), "https://a.b/v1/messages");
  EXPECT_EQ(api_url("https://a.b/api", "/v1", "/messages"), "https://a.b/api/v1/messages");
  EXPECT_EQ(api_url("https://a.b/v1beta", "/v1beta", "/x"), "https://a.b/v1beta/x");
  EXPECT_EQ(without_password("http://u:p@h/x@y"), "http://h/x@y");
  EXPECT_EQ(without_password("http://h/x@y"), "http://h/x@y");
}

TEST(Address, KnowsWhatStaysOnThisMachine) {
  EXPECT_TRUE(is_loopback("http://127.0.0.1:80/v1"));
  EXPECT_TRUE(is_loopback("http://localhost"));
  EXPECT_TRUE(is_loopback("http://[::1]:80/"));
  EXPECT_FALSE(is_loopback("http://127.0.0.1@evil.example/"));
  EXPECT_FALSE(is_loopback("https://api.example/127.0.0.1"));
}

class FindCredentials : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    const auto path = folder_.path() / "key";
    std::ofstream(path) << text;
    return path.string();
  }
  TemporaryFolder folder_;
  Variables variables_;  // none set that could be a key
};

TEST_F(FindCredentials, FromTheEnvironment) {
  variables_.set("ANTHROPIC_API_KEY", "k1");
  variables_.set("OPENAI_API_KEY", " k2\n");
  variables_.set("GOOGLE_API_KEY", "k3");
  variables_.set("OPENAI_BASE_URL", "https://proxy.example/v1");
  EXPECT_EQ(find_credentials({"anthropic", "m", ""}, "")->key, "k1");
  EXPECT_EQ(find_credentials({"openai", "m", ""}, "")->key, "k2");
  EXPECT_EQ(find_credentials({"openai", "m", ""}, "")->base_url, "https://proxy.example/v1");
  EXPECT_EQ(find_credentials({"gemini", "m", ""}, "")->key, "k3");
  variables_.set("GEMINI_API_KEY", "k4");
  EXPECT_EQ(find_credentials({"gemini", "m", ""}, "")->key, "k4");
}

TEST_F(FindCredentials, ATokenWhenThereIsNoKey) {
  variables_.set("ANTHROPIC_AUTH_TOKEN", "t");
  EXPECT_TRUE(find_credentials({"anthropic", "m", ""}, "")->bearer);
  variables_.set("ANTHROPIC_API_KEY", "k");
  EXPECT_FALSE(find_credentials({"anthropic", "m", ""}, "")->bearer);
}

TEST_F(FindCredentials, FromAFileOfAnyForm) {
  EXPECT_EQ(find_credentials({"openai", "m", ""}, file("  k\n"))->key, "k");
  EXPECT_EQ(
      find_credentials({"openai", "m", ""}, file("# mine\nANTHROPIC_API_KEY=a\nexport OPENAI_API_KEY=\"o=o\"\r\n"))
          ->key,
      "o=o");
  EXPECT_EQ(find_credentials({"openai", "m", ""}, file("ANTHROPIC_API_KEY=a\n")).error().kind,
            Error::Kind::invalid_input);
  EXPECT_FALSE(find_credentials({"openai", "m", ""}, "/no/such/file"));
}

TEST_F(FindCredentials, OrSayWhichVariableToSet) {
  EXPECT_NE(find_credentials({"anthropic", "m", ""}, "").error().message.find("ANTHROPIC_API_KEY"), std::string::npos);
  EXPECT_NE(find_credentials({"openai", "m", ""}, "").error().message.find("OPENAI_API_KEY"), std::string::npos);
  EXPECT_NE(find_credentials({"gemini", "m", ""}, "").error().message.find("GEMINI_API_KEY"), std::string::npos);
  EXPECT_NE(find_credentials({"compat", "m", ""}, "").error().message.find("URL"), std::string::npos);
}

TEST_F(FindCredentials, NoneForALocalServer) {
  const auto found = find_credentials({"compat", "m", "http://localhost:8000"}, "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, "");
  EXPECT_EQ(found->base_url, "http://localhost:8000");
}

TEST(OpenChat, RefusesWhatCannotWork) {
  const SystemClock clock;
  const auto error = [&](Credentials credentials, ChatOptions options = quick_options(),
                         const char* provider = "openai") {
    const auto chat = open_chat({provider, "m", ""}, credentials, options, clock);
    return chat ? "" : chat.error().message;
  };
  EXPECT_EQ(error({"good-key"}), "");
  const std::string smuggled = error({"secret-key\r\nx-other: 1"});
  EXPECT_NE(smuggled, "");
  EXPECT_EQ(smuggled.find("secret-key"), std::string::npos) << "not even a broken key is told";
  EXPECT_NE(error({"k", false, "ftp://h"}), "");
  EXPECT_NE(error({"k"}, quick_options(), "mistral"), "");
  ChatOptions options = quick_options();
  options.tools[0].schema = "[]";
  EXPECT_NE(error({"k"}, options), "");
  options = quick_options();
  options.max_output_tokens = 0;
  EXPECT_NE(error({"k"}, options), "");
}

}  // namespace
}  // namespace onelaunch::llm
