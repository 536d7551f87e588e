// The bodies of frames. What is understood is sent and understood again as the same. The first byte: which message.
#include <cstring>

#include "sandbox/protocol/messages.h"

namespace {

template <class Decode>
void there_and_back(const std::string& body, Decode decode) {
  const auto once = decode(body);
  if (!once) return;
  const std::string sent = encode(*once);
  const auto twice = decode(sent);
  if (!twice || encode(*twice) != sent) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onelaunch::sandbox;
  if (size == 0) return 0;
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 12) {
    case 0: there_and_back(body, decode_compiler_hello); break;
    case 1: there_and_back(body, decode_compile_job); break;
    case 2: there_and_back(body, decode_compile_reply); break;
    case 3: there_and_back(body, decode_device_facts); break;
    case 4: there_and_back(body, decode_setup_job); break;
    case 5: there_and_back(body, decode_setup_reply); break;
    case 6: there_and_back(body, decode_run_job); break;
    case 7: there_and_back(body, decode_run_reply); break;
    case 8: there_and_back(body, decode_time_job); break;
    case 9: there_and_back(body, decode_time_reply); break;
    case 10: there_and_back(body, decode_count_job); break;
    case 11: there_and_back(body, decode_count_reply); break;
  }
  return 0;
}
