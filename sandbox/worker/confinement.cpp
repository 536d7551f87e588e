#include "sandbox/worker/confinement.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace onelaunch::worker {
namespace {

// Rights by Landlock version; a kernel refuses rights that it does not know. Older kernel headers lack the names.
constexpr std::uint64_t kFileRightsV1 = (1u << 13) - 1, kRefer = 1u << 13, kTruncate = 1u << 14, kIoctl = 1u << 15;
constexpr std::uint64_t kBindTcp = 1, kConnectTcp = 2;
constexpr std::uint64_t kScopes = 3;  // abstract sockets, signals

struct RulesetAttributes {
  std::uint64_t files = 0, net = 0, scopes = 0;
};

long landlock_version() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0}, LANDLOCK_CREATE_RULESET_VERSION);
}

// Denies everything but reading below `readable` (-1: nothing).
bool restrict_files(int readable) {
  const long version = landlock_version();
  if (version < 1) return false;
  RulesetAttributes attributes;
  attributes.files = kFileRightsV1;
  std::size_t size = sizeof(std::uint64_t);
  if (version >= 2) attributes.files |= kRefer;
  if (version >= 3) attributes.files |= kTruncate;
  if (version >= 4) attributes.net = kBindTcp | kConnectTcp, size = 2 * sizeof(std::uint64_t);
  if (version >= 5) attributes.files |= kIoctl;
  if (version >= 6) attributes.scopes = kScopes, size = sizeof attributes;
  const UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0u)));
  if (!ruleset) return false;
  if (readable >= 0) {
    landlock_path_beneath_attr rule{};
    rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    rule.parent_fd = readable;
    if (::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0u) != 0) return false;
  }
  return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0u) == 0;
}

bool take_root(const std::filesystem::path& folder) {
  // A user namespace lends the right to change the root to those who lack it.
  if (::geteuid() != 0 && ::unshare(CLONE_NEWUSER) != 0) return false;
  return ::chroot(folder.c_str()) == 0 && ::chdir("/") == 0;
}

void limit(__rlimit_resource resource, std::uint64_t value) {
  const rlimit both{value, value};
  ::setrlimit(resource, &both);
}

}  // namespace

const char* name_of(Containment containment) {
  switch (containment) {
    case Containment::landlock: return "landlock";
    case Containment::namespaced: return "namespace";
    case Containment::weak: break;
  }
  return "weak";
}

ReaderConfinement confine_to_reading(const std::filesystem::path& folder) {
  ReaderConfinement done;
  const UniqueFd readable(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  done.new_root = take_root(folder);
  ::unshare(CLONE_NEWNET);  // where that is not allowed either, Landlock keeps it off the network
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (readable && restrict_files(readable.get()))
    done.containment = Containment::landlock;
  else if (done.new_root)
    done.containment = Containment::namespaced;
  return done;
}

bool deny_all_files() {
  ::unshare(CLONE_NEWNET);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return restrict_files(-1);
}

void apply(const ProcessLimits& limits) {
  if (limits.address_space_bytes != 0) limit(RLIMIT_AS, limits.address_space_bytes);
  if (limits.data_bytes != 0) limit(RLIMIT_DATA, limits.data_bytes);
  if (limits.cpu_seconds != 0) limit(RLIMIT_CPU, limits.cpu_seconds);
  if (limits.descriptors != 0) limit(RLIMIT_NOFILE, limits.descriptors);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_CORE, 0);
}

}  // namespace onelaunch::worker
