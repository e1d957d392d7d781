// Launches a kernel of the program on the emulator.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "cuda/session.hpp"
#include "emulate/block_reports.hpp"
#include "emulate/calls.hpp"
#include "emulate/findings.hpp"
#include "graph/error.hpp"
#include "zellige/cuda/runtime.hpp"

namespace zellige::cuda {

namespace {

using emulate::Launch;
using emulate::Site;

/// Why a launch cannot run, and CUDA's error.
struct LaunchFault {
  std::string message;  // "" if it can run
  int error = 0;
};

constexpr std::size_t shared_without_asking = 48 * 1024;

// Returns the kernel's name without namespaces and template arguments.
std::string base(std::string name) {
  name = name.substr(0, name.find('<'));
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name.substr(name.rfind(':') + 1);
}

// Returns the dynamic shared memory that the program has allowed the kernel by cudaFuncSetAttribute. A kernel that is
// launched by another name (a function pointer's) has the largest that any has.
std::size_t allowed_shared(const std::string& kernel) {
  std::size_t largest = shared_without_asking, own = 0;
  for (const auto& [name, bytes] : session().allowed_shared) {
    largest = std::max(largest, bytes);
    if (base(name) == base(kernel)) own = bytes;
  }
  return own ? std::max(own, shared_without_asking) : largest;
}

LaunchFault check(const KernelCall& k) {
  const Extent &g = k.grid, &b = k.block;
  const std::uint64_t threads = std::uint64_t(b.x) * b.y * b.z;
  const auto invalid = [](std::string message) {
    return LaunchFault{std::move(message), cudaErrorInvalidConfiguration};
  };
  if (threads > 1024)
    return invalid(fmt::format("a block of {}x{}x{} has {} threads; it has at most 1024", b.x, b.y, b.z, threads));
  if (threads == 0) return invalid(fmt::format("a block of {}x{}x{} has no threads", b.x, b.y, b.z));
  if (b.z > 64) return invalid(fmt::format("a block has {} threads in z; it has at most 64", b.z));
  if (g.x == 0 || g.y == 0 || g.z == 0) return invalid(fmt::format("a grid of {}x{}x{} has no blocks", g.x, g.y, g.z));
  if (g.y > 65535 || g.z > 65535)
    return invalid(fmt::format("a grid has {} blocks in {}; it has at most 65535", g.y > 65535 ? g.y : g.z,
                               g.y > 65535 ? "y" : "z"));
  if (g.x > 2147483647u) return invalid(fmt::format("a grid has {} blocks in x; it has at most 2147483647", g.x));
  const std::size_t allowed = allowed_shared(k.kernel);
  if (k.shared_bytes > allowed)
    return {fmt::format("{} bytes of dynamic shared memory; {} has at most {}{}", k.shared_bytes, base(k.kernel),
                        allowed, k.shared_bytes > 227 * 1024 ? "" : " unless cudaFuncSetAttribute allows it more"),
            cudaErrorInvalidValue};
  const Extent& c = k.cluster;
  if (g.x % c.x || g.y % c.y || g.z % c.z)
    return {fmt::format("a grid of {}x{}x{} blocks is no multiple of its clusters of {}x{}x{}", g.x, g.y, g.z, c.x, c.y,
                        c.z),
            cudaErrorInvalidClusterSize};
  if (c.x * c.y * c.z > 16)
    return {fmt::format("a cluster of {} blocks; it has at most 8, or 16 if the kernel allows it", c.x * c.y * c.z),
            cudaErrorInvalidClusterSize};
  if (k.cooperative && (g.x * g.y * g.z > 16 || g.x * g.y * g.z * ((threads + 31) / 32) > 128))
    return {fmt::format("a cooperative launch of {} blocks of {} threads; the emulator follows 16 blocks and 128 warps",
                        g.x * g.y * g.z, threads),
            cudaErrorCooperativeLaunchTooLarge};
  return {};
}

std::vector<ProgramAllocation*> launched;  // the allocations of the running launch, in the order of its parameters

// Tells the emulator what each thread does: it calls the kernel with the arguments of the launch.
void entry(Launch& launch) {
  static const std::vector<std::size_t> pointers(1 << 16, 0);  // sizes of the parameters: all are pointers
  for (std::size_t i = 0; i < launched.size(); ++i) launched[i]->region = launch.arguments[i].region;
  launch.run(
      launch,
      [](const Launch&) {
        inside_kernel = true;
        const KernelCall& k = *session().running;
        k.run(k.closure);
        emulate::judge_postponed();
      },
      pointers.data(), unsigned(launched.size()));
}

// Reports static shared memory beyond what a kernel can have.
void check_static_shared(const KernelCall& k, Site site) {
  Session& s = session();
  std::size_t bytes = k.shared_bytes;
  for (const Declaration* d : s.shared)
    if (std::exchange(d->used, false)) bytes += d->bytes;
  const std::size_t limit = std::max(allowed_shared(k.kernel), shared_without_asking);
  if (bytes > limit)
    s.report_host("launch", site,
                  fmt::format("of {} at \1: {} bytes of shared memory, static and dynamic; it has at most {}", k.kernel,
                              bytes, limit));
}

// Prints how far a launch is, every half second, on the last line of a terminal.
void print_progress(std::uint64_t begun, std::uint64_t blocks) {
  using Clock = std::chrono::steady_clock;
  static std::uint64_t launch = 0;
  static Clock::time_point start, printed;
  const Clock::time_point now = Clock::now();
  if (launch != session().launch) launch = session().launch, start = printed = now;
  if (now - printed < std::chrono::milliseconds(500)) return;
  printed = now;
  const double seconds = std::chrono::duration<double>(now - start).count();
  fmt::print(stderr, "\r{}: {}% of {} blocks, {:.0f} s left\033[K", session().running->kernel, 100 * begun / blocks,
             blocks, seconds / double(begun) * double(blocks - begun));
  if (begun == blocks) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

void run(const KernelCall& k, Site site) {
  Session& s = session();
  emulate::LaunchConfig config{.grid = {k.grid.x, k.grid.y, k.grid.z}, .block = {k.block.x, k.block.y, k.block.z}};
  config.shared_bytes = unsigned(s.static_bytes + k.shared_bytes + shared_tail);
  config.workers = s.options.workers;
  config.schedule = s.options.schedule;
  config.seconds = s.options.seconds;
  if (s.options.progress) config.progress = print_progress;
  config.count_by_line = s.options.counts;
  emulate::exact_sums = s.options.exact;
  config.source_file = s.files;
  // A compiler gives a kernel of warpgroups at most 168 registers, so that setmaxnreg can raise them.
  const unsigned threads = std::max(1u, k.block.x * k.block.y * k.block.z);
  config.registers = std::min(168u, 65536 / ((threads + 31) / 32 * 32) / 8 * 8);
  config.cluster = {k.cluster.x, k.cluster.y, k.cluster.z};
  if (k.cooperative) config.cluster = config.grid;
  launched.clear();
  for (const auto& [at, a] : s.memory.all()) {
    if (a->freed) continue;
    launched.push_back(a.get());
    config.parameters.emplace_back(*a->buffer, a->kind != MemoryKind::constant);
  }
  s.running = &k;
  ++s.launch;
  s.dynamic_bytes = k.shared_bytes;
  s.dynamic_name = "";
  try {
    const emulate::EmulationReport report = emulate::run(entry, config);
    s.report.add(k.kernel, report);
    if (!report.complete) s.error = cudaErrorLaunchFailure;
  } catch (const Error& e) {
    s.report_host("launch", site, fmt::format("of {} at \1: {}", k.kernel, e.what()));
    s.error = cudaErrorNotSupported;
  }
  inside_kernel = false;
  s.running = nullptr;
  for (ProgramAllocation* a : launched) a->region = nullptr;
  check_static_shared(k, site);
  if (emulate::is_interrupted()) std::exit(interrupted_status);
}

void launch(const KernelCall& k) {
  const Site site = ZELLIGE_SITE();
  if (inside_kernel) {  // in a function of host and device
    emulate::Fiber& f = emulate::fiber(emulate::self());
    f.home->stop(f, emulate::Finding::Kind::instruction, nullptr, site,
                 "of {}: at \1 it launches {} (dynamic parallelism), which the emulator does not run",
                 f.home->who(f.index), k.kernel);
  }
  std::fflush(stdout);
  if (const LaunchFault f = check(k); !f.message.empty()) {
    session().error = f.error;
    session().report_host("launch", site, fmt::format("of {} at \1: {}", k.kernel, f.message));
    return;
  }
  run(k, site);
}

}  // namespace

void add_launch_calls(Host& all) { all.launch = launch; }

}  // namespace zellige::cuda
