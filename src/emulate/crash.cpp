// Keeps faults in kernel code from ending the process: a division by zero, an access out of bounds of the
// kernel's own arrays, a stack overflow, a kernel that never ends. Signal handlers report each of these as a
// finding (an error in the kernel) and end the kernel's cluster.
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <mutex>

#include "emulate/cluster.hpp"

namespace zellige::emulate {

namespace {

// The cluster that runs on this thread, and the process's previous signal handlers.
thread_local Cluster* running = nullptr;

constexpr int faults[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL};
struct sigaction earlier[NSIG];
int time_is_up() { return SIGRTMIN + 7; }

// The program counter, stack pointer and frame pointer of an interrupted thread.
struct Stopped {
  std::uintptr_t pc, stack, frame;
};

#if defined(__x86_64__)
Stopped stopped(const ucontext_t& c) {
  const auto& r = c.uc_mcontext.gregs;
  return {std::uintptr_t(r[REG_RIP]), std::uintptr_t(r[REG_RSP]), std::uintptr_t(r[REG_RBP])};
}
// Makes the interrupted thread continue in `function`, on `stack`.
void divert(ucontext_t& c, void (*function)(), std::uintptr_t stack) {
  c.uc_mcontext.gregs[REG_RIP] = greg_t(reinterpret_cast<std::uintptr_t>(function));
  c.uc_mcontext.gregs[REG_RSP] = greg_t((stack & ~std::uintptr_t(15)) - 8);
}
#elif defined(__aarch64__)
Stopped stopped(const ucontext_t& c) { return {c.uc_mcontext.pc, c.uc_mcontext.sp, c.uc_mcontext.regs[29]}; }
void divert(ucontext_t& c, void (*function)(), std::uintptr_t stack) {
  c.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(function);
  c.uc_mcontext.sp = stack & ~std::uintptr_t(15);
}
#endif

// The fault in kernel code that this worker thread is handling; give_up() reports it.
thread_local struct {
  Fiber* fiber;
  int signal;
  Stopped at;
  bool overflow;
} fault;

// Reports the fault in kernel code as a finding (an error in the kernel), and ends the cluster. Runs on the
// stack of the interrupted emulated thread.
void give_up() {
  Fiber& f = *fault.fiber;
  Block& b = *f.home;
  const Site site{fault.at.pc + 1, fault.overflow ? 0 : fault.at.frame};
  if (fault.signal == time_is_up()) {
    b.report(f, Finding::Kind::endless, nullptr, site, "of {}: it is at \1, and the launch's {} seconds are over",
             b.who(f.index), b.cluster.launch().config->seconds);
  } else {
    const std::string why = fault.signal == SIGFPE   ? "divides by zero"
                            : fault.signal == SIGILL ? "leaves an array of its own"
                            : fault.overflow
                                ? fmt::format("has more on its stack than the {} KB that it has", stack_bytes / 1024)
                                : "touches memory that is no tensor's, an array of its own out of bounds perhaps,";
    b.report(f, Finding::Kind::crash, nullptr, site, "of {}: it {} at \1", b.who(f.index), why);
  }
  b.abandon(f);
}

// Handles the signal of a fault (SIGSEGV, SIGFPE, ...) or of the time limit. A fault outside kernel code is
// passed to the previous handler; one in kernel code is reported and ends the cluster. The signal of the time
// limit is repeated: the first one lets the emulator end the cluster at the kernel's next call to it, the
// second one interrupts the kernel and ends the cluster.
void on_signal(int signal, siginfo_t* info, void* context) {
  auto& c = *static_cast<ucontext_t*>(context);
  const Stopped at = stopped(c);
  Fiber* f = running ? running->fiber_at(at.stack) : nullptr;
  if (signal == time_is_up()) {
    if (!f) return;
    if (!running->expired) {
      running->expired = true;
      return;
    }
  }
  if (!f) {
    sigaction(signal, &earlier[signal], nullptr);
    return;
  }
  const auto slot = at.stack & ~(stack_bytes - 1);
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool overflow = signal == SIGSEGV && address + 4096 > slot && address < slot + 8192;
  fault = {f, signal, at, overflow};
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, signal);
  pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
  divert(c, give_up, overflow ? reinterpret_cast<std::uintptr_t>(f) - 512 : at.stack - 512);
}

void install() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : faults) sigaction(signal, &action, &earlier[signal]);
  action.sa_flags |= SA_RESTART;
  sigaction(time_is_up(), &action, nullptr);
}

// A stack for the signal handlers of a worker thread. It restores the previous signal stack when the worker
// ends, because a sanitizer frees the signal stack that is set by then.
struct SignalStack {
  static constexpr std::size_t bytes = 64 * 1024;
  std::unique_ptr<unsigned char[]> memory{new unsigned char[bytes]};
  stack_t before{};

  SignalStack() {
    stack_t s{};
    s.ss_sp = memory.get();
    s.ss_size = bytes;
    sigaltstack(&s, &before);
  }
  ~SignalStack() { sigaltstack(&before, nullptr); }
};

}  // namespace

SignalWatch::SignalWatch(Cluster& cluster, double seconds) : before_(running) {
  static std::once_flag once;
  std::call_once(once, install);
  static thread_local const SignalStack stack;
  running = &cluster;
  if (seconds <= 0) return;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = time_is_up();
  event._sigev_un._tid = int(syscall(SYS_gettid));
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) return;
  timed_ = true;
  itimerspec after{};
  after.it_value.tv_sec = time_t(seconds);
  after.it_value.tv_nsec = long((seconds - double(time_t(seconds))) * 1e9);
  after.it_interval.tv_sec = 1;
  timer_settime(timer_, 0, &after, nullptr);
}

SignalWatch::~SignalWatch() {
  if (timed_) timer_delete(timer_);
  running = before_;
}

}  // namespace zellige::emulate
