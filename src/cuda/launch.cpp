// Launches a kernel of the program on the emulator.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cuda/session.hpp"
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

void run(const KernelCall& k, Site site) {
  Session& s = session();
  emulate::LaunchConfig config{.grid = {k.grid.x, k.grid.y, k.grid.z}, .block = {k.block.x, k.block.y, k.block.z}};
  config.shared_bytes = unsigned(s.static_bytes + k.shared_bytes + shared_tail);
  config.workers = s.options.workers;
  config.schedule = s.options.schedule;
  config.seconds = s.options.seconds;
  config.count_by_line = s.options.counts;
  config.source_file = s.files;
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
}

void launch(const KernelCall& k) {
  const Site site = ZELLIGE_SITE();
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
