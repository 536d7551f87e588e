#include "sandbox/emulator/check/facts.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace onelaunch::emu {
namespace {

using Kind = OpFacts::Kind;

class Parts {
 public:
  explicit Parts(std::string_view opcode) {
    for (std::size_t at = 0; at <= opcode.size();) {
      const std::size_t dot = std::min(opcode.find('.', at), opcode.size());
      parts_.push_back(opcode.substr(at, dot - at));
      at = dot + 1;
    }
  }
  std::string_view name() const { return parts_.front(); }
  bool has(std::string_view part) const { return std::find(parts_.begin() + 1, parts_.end(), part) != parts_.end(); }

 private:
  std::vector<std::string_view> parts_;
};

Kind kind_of_copy(const Parts& parts) {
  if (parts.has("bulk")) {
    if (parts.has("prefetch")) return Kind::none;
    if (parts.has("commit_group")) return Kind::bulk_commit;
    return parts.has("wait_group") ? Kind::bulk_wait : Kind::bulk_copy;
  }
  if (parts.has("mbarrier")) return Kind::small_arrive;
  if (parts.has("commit_group")) return Kind::small_commit;
  if (parts.has("wait_all")) return Kind::small_wait_all;
  return parts.has("wait_group") ? Kind::small_wait : Kind::small_copy;
}

Kind kind_of_fence(const Parts& parts) {
  if (parts.has("proxy")) return parts.has("async") || parts.has("async::generic") ? Kind::proxy_fence : Kind::none;
  return parts.has("mbarrier_init") ? Kind::none : Kind::fence;
}

Kind kind_of(const Parts& parts) {
  const std::string_view name = parts.name();
  if (name == "ld" || name == "ldu") return Kind::load;
  if ((name == "st" || name == "red") && parts.has("async")) return Kind::async_store;
  if (name == "st") return Kind::store;
  if (name == "atom" || name == "red") return Kind::atomic;
  if (name == "ldmatrix") return Kind::matrix_load;
  if (name == "stmatrix") return Kind::matrix_store;
  if (name == "membar") return Kind::fence;
  if (name == "fence") return kind_of_fence(parts);
  if (name == "cp") return kind_of_copy(parts);
  if (name != "mbarrier") return Kind::none;
  if (parts.has("arrive") || parts.has("arrive_drop")) return Kind::barrier_arrive;
  return parts.has("test_wait") || parts.has("try_wait") ? Kind::barrier_wait : Kind::none;
}

}  // namespace

OpFacts facts_of(const std::string& opcode) {
  const Parts parts(opcode);
  OpFacts facts;
  facts.kind = kind_of(parts);
  const bool barrier = facts.kind == Kind::barrier_arrive || facts.kind == Kind::barrier_wait;
  const bool both = parts.has("acq_rel") || (barrier && !parts.has("relaxed"));
  facts.acquires = both || parts.has("acquire");
  facts.releases = both || parts.has("release");
  facts.strong = facts.kind == Kind::atomic || facts.acquires || facts.releases || parts.has("relaxed") || parts.has("volatile") || parts.has("mmio");
  facts.within_block = parts.has("cta");
  facts.incoherent = facts.kind == Kind::load && parts.has("nc");
  facts.reads_only = parts.has("read");
  return facts;
}

}  // namespace onelaunch::emu
