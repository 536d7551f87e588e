#include "sandbox/worker/system_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace onelaunch::worker {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

constexpr std::uint32_t kAllowed[] = {
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise,                  // memory
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_sched_yield,                // time
    SYS_futex, SYS_ppoll, SYS_restart_syscall,                                             // waiting
#if defined(SYS_poll)
    SYS_poll,
#endif
    SYS_read, SYS_write, SYS_recvmsg, SYS_sendmsg, SYS_close, SYS_fcntl, SYS_fstat, SYS_lseek,  // existing descriptors
    SYS_set_robust_list, SYS_sched_getaffinity, SYS_getpid, SYS_gettid,                    // threads
#if defined(SYS_rseq)
    SYS_rseq,
#endif
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,               // crashing properly
    SYS_getrandom, SYS_exit, SYS_exit_group,
};

// What the driver and NVML do with descriptors that they have; candidate code runs on the GPU and calls nothing here.
constexpr std::uint32_t kAllowedForGpu[] = {
    SYS_ioctl, SYS_pipe2, SYS_eventfd2, SYS_getuid, SYS_geteuid, SYS_getegid, SYS_getgid, SYS_sched_setaffinity, SYS_uname,
    SYS_sysinfo, SYS_prctl, SYS_dup, SYS_pread64,
};

constexpr std::uint32_t kDenied = SECCOMP_RET_ERRNO | EPERM;

// A program for the kernel that looks at one system call after the other.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    skip_unless(BPF_JEQ, kArchitecture, 1, 0);
    answer(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
  }
  void decide(std::uint32_t call, std::uint32_t action) {
    skip_unless(BPF_JEQ, call, 0, 1);
    answer(action);
  }
  // Allows the call when its first argument equals `value` (BPF_JEQ), or has a bit in common with it (BPF_JSET).
  void allow_if(std::uint32_t call, std::uint16_t relation, std::uint32_t value) {
    skip_unless(BPF_JEQ, call, 0, 4);
    load(offsetof(seccomp_data, args));  // its lower half, little endian
    skip_unless(relation, value, 0, 1);
    answer(SECCOMP_RET_ALLOW);
    answer(kDenied);
  }
  void answer(std::uint32_t action) { code_.push_back({BPF_RET | BPF_K, 0, 0, action}); }
  std::vector<sock_filter>& code() { return code_; }

 private:
  void load(std::size_t offset) { code_.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)}); }
  void skip_unless(std::uint16_t relation, std::uint32_t value, std::uint8_t holds, std::uint8_t differs) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | relation | BPF_K), holds, differs, value});
  }
  std::vector<sock_filter> code_;
};

}  // namespace

bool keep_few_system_calls(Device device) {
  Filter filter;
  for (const std::uint32_t call : kAllowed) filter.decide(call, SECCOMP_RET_ALLOW);
  if (device == Device::gpu)
    for (const std::uint32_t call : kAllowedForGpu) filter.decide(call, SECCOMP_RET_ALLOW);
  // Threads, but no processes: they would outlive us. The newer call keeps its flags where no filter sees them; without
  // it the C library takes the older one.
  filter.allow_if(SYS_clone, BPF_JSET, CLONE_THREAD);
#if defined(SYS_clone3)
  filter.decide(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
#endif
  filter.allow_if(SYS_tgkill, BPF_JEQ, static_cast<std::uint32_t>(::getpid()));  // abort()
  filter.answer(kDenied);
  std::vector<sock_filter>& code = filter.code();
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

}  // namespace onelaunch::worker
