#include "run/run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "emit/emit.hpp"
#include "graph/error.hpp"
#include "graph/inputs.hpp"
#include "graph/judge.hpp"
#include "run/driver.hpp"
#include "run/dump.hpp"
#include "run/emulated.hpp"
#include "run/files.hpp"
#include "run/gpu.hpp"
#include "run/host_compiler.hpp"
#include "run/nvrtc.hpp"
#include "run/pool.hpp"
#include "run/storage.hpp"

namespace zellige::run {
namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Keeps other processes of this cache off the GPU while times are taken.
class GpuLock {
 public:
  explicit GpuLock(const Cache& cache) {
    create_folders(cache.root());
    const std::string file = (cache.root() / "gpu.lock").string();
    fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0) fail("{}: cannot be locked: {}", file, std::strerror(errno));
  }
  ~GpuLock() { ::close(fd_); }
  GpuLock(const GpuLock&) = delete;

 private:
  int fd_;
};

std::vector<Bytes> starting_storage(const graph::KernelGraph& g, const emit::Manifest& m,
                                    const std::vector<graph::Array>& inputs) {
  std::vector<Bytes> storage;
  for (const emit::TensorPlace& t : m.tensors) {
    if (t.role != emit::Role::input) {
      storage.push_back(poisoned(t));
      continue;
    }
    const graph::Array& values = inputs.at(static_cast<std::size_t>(t.position));
    if (values.shape != t.shape || g.tensors[static_cast<std::size_t>(graph_tensor(g, t))].dtype != t.dtype) {
      fault("manifest of {}: input {} is {} {}; the graph's is {}", m.name, t.name, graph::name(t.dtype),
            graph::to_string(t.shape), graph::to_string(values.shape));
    }
    storage.push_back(pack(t, values.values));
  }
  return storage;
}

void run_on_emulator(const emit::Program& p, std::vector<Bytes>& storage, const Options& o,
                     const Cache& cache, RunResult& r) {
  const EmulatedRun e = run_emulated(p, storage, cache, o.workers);
  emulate::Counters all;
  for (const EmulatedKernel& k : e.kernels) all += k.counters;
  r.counters = named(all);
  r.compile_ms = e.compile_ms;
  r.compile_cached = e.compile_cached;
  r.run_ms = e.run_ms;
  for (const emulate::Finding& f : e.findings) r.findings.push_back(f.message);
  if (r.findings.empty() && e.complete) return;
  r.status = Status::wrong;
  r.reason = r.findings.empty() ? "the emulator gave the launch up" : r.findings[0];
  if (r.findings.size() > 1) r.reason += fmt::format(" (and {} findings more)", r.findings.size() - 1);
}

void run_on_device(const emit::Program& p, std::vector<Bytes>& storage, const Options& o, const Cache& cache,
                   RunResult& r) {
  const Cubin cubin = compile_cubin(p.source, p.manifest.target, cache);
  r.compile_ms = cubin.compile_ms;
  r.compile_cached = cubin.cached;
  std::optional<GpuLock> alone;
  if (o.time) alone.emplace(cache);
  const GpuRun g = run_on_gpu(p.manifest, cubin, storage, o.time);
  r.run_ms = g.run_ms;
  r.samples_us = g.samples_us;
  for (std::size_t i = 0; i < g.kernels.size(); ++i) {
    r.kernels[i].registers = g.kernels[i].registers;
    r.kernels[i].local_bytes = g.kernels[i].local_bytes;
  }
  const Device& d = device();
  r.device = fmt::format("{}, driver {}.{}, {} MHz at most", d.name, d.driver / 1000, d.driver % 1000 / 10,
                         d.clock_khz / 1000);
}

// Every output, and every intermediate that a kernel wrote, against the reference.
void compare_all(const graph::KernelGraph& g, const emit::Manifest& m, const std::vector<Bytes>& storage,
                 const graph::RandomInputs& inputs, RunResult& r) {
  graph::Judge judge(g, inputs.arrays, inputs.reference);
  std::vector<bool> seen(g.tensors.size(), false);
  for (std::size_t i = 0; i < m.tensors.size(); ++i) {
    const emit::TensorPlace& t = m.tensors[i];
    const int at = graph_tensor(g, t);
    if (t.role == emit::Role::input || at < 0) continue;
    seen[static_cast<std::size_t>(at)] = true;
    const graph::Array found{t.shape, unpack(t, storage[i])};
    const graph::Comparison c = judge.compare(at, found);
    r.tensors.push_back({t.name, t.role == emit::Role::output, std::string(graph::name(t.dtype)), t.shape,
                         c.norm_error, c.worst, c.correct ? "" : graph::to_string(c), c.wrong, c.of_error});
    const Status status = c.correct ? Status::correct : c.explained ? Status::borderline : Status::wrong;
    if (status == Status::correct || r.status == Status::wrong || (status == r.status && !r.reason.empty()))
      continue;
    r.status = status;
    r.reason = fmt::format("{}: tensor {}: {}", g.name, t.name, graph::to_string(c));
  }
  for (const int output : g.outputs) {
    // An output that is also an input, or given twice, has one place.
    const bool input = std::find(g.inputs.begin(), g.inputs.end(), output) != g.inputs.end();
    if (seen[static_cast<std::size_t>(output)] || input) continue;
    fault("manifest of {}: says nothing of the output {}", m.name,
          g.tensors[static_cast<std::size_t>(output)].name);
  }
}

void fill(const graph::KernelGraph& g, const Options& o, const Cache& cache, RunResult& r) {
  // Planning is cheap and refuses what cannot run; the inputs and the reference may take seconds.
  std::optional<emit::Program> program;
  if (o.on != Engine::reference) {
    const auto start = Clock::now();
    program = emit::transpile(g, target::find(o.target));
    r.plan_ms = ms_since(start);
    r.buffer_size = program->manifest.buffer_size;
    r.kernel = source_file(program->source, program->manifest.name, cache).string();
    for (const emit::KernelLaunch& k : program->manifest.kernels) {
      r.kernels.push_back({k.name, k.grid, k.block, k.shared_bytes});
    }
  }
  const auto start = Clock::now();
  const graph::RandomInputs inputs = graph::random_inputs(g, o.seed);
  r.inputs_ms = ms_since(start);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    r.scales.emplace_back(g.tensors[static_cast<std::size_t>(g.inputs[i])].name,
                          std::ldexp(1.0, inputs.exponents[i]));
  }
  // A dump that cannot be written says so, and takes nothing back of what the run found.
  const auto keep = [&](const emit::Program* p, const std::vector<Bytes>* bytes) {
    if (o.dump.empty() || !o.outputs) return;
    try {
      dump(*o.outputs, o.dump, g, inputs, p, bytes);
    } catch (const Error& e) {
      if (r.status != Status::wrong) r.status = Status::refused;
      r.reason += fmt::format("{}--dump: {}", r.reason.empty() ? "" : "\n", e.what());
    }
  };
  if (!program) {
    r.status = Status::reference;
    keep(nullptr, nullptr);
    return;
  }
  std::vector<Bytes> storage = starting_storage(g, program->manifest, inputs.arrays);
  r.status = Status::correct;
  (o.on == Engine::gpu ? run_on_device : run_on_emulator)(*program, storage, o, cache, r);
  compare_all(g, program->manifest, storage, inputs, r);
  keep(&*program, &storage);
}

RunResult run_once(const graph::KernelGraph& g, const Options& o, const Cache& cache) {
  RunResult r{.graph = g.name, .target = o.target, .on = std::string(name(o.on)), .seed = o.seed};
  try {
    fill(g, o, cache, r);
  } catch (const Fault& e) {
    r.status = Status::failed;
    r.reason = e.what();
  } catch (const Error& e) {
    r.status = Status::refused;
    r.reason = e.what();
  } catch (const std::bad_alloc&) {
    r.status = Status::refused;
    r.reason = g.name + ": its tensors do not fit into this machine's memory";
  } catch (const std::exception& e) {
    r.status = Status::failed;
    r.reason = fmt::format("{}: an error within Zellige: {}", g.name, e.what());
  }
  return r;
}

}  // namespace

std::string_view name(Engine e) {
  constexpr std::string_view names[] = {"gpu", "emulator", "reference"};
  return names[static_cast<int>(e)];
}

RunResult run(const graph::KernelGraph& g, const Options& o, const Cache& cache) {
  RunResult r = run_once(g, o, cache);
  for (std::uint64_t more = 1; more <= 2 && r.status == Status::borderline; ++more) {
    Options other = o;
    other.seed += more, other.dump.clear(), other.time = false;
    const RunResult again = run_once(g, other, cache);
    if (again.status != Status::wrong) continue;
    r.status = Status::wrong;
    r.reason = fmt::format("{} (borderline with seed {})", again.reason, o.seed);
  }
  return r;
}

GpuFound find_gpu() {
  GpuFound found;
  run_jobs(
      1, 1,
      [](int) -> std::string {
        try {
          nvrtc_version();
          const int cc = device().compute_capability;
          for (const target::Target& t : target::all()) {
            if (t.compute_capability == cc) return fmt::format("+{}", t.name);
          }
          // Code of an earlier minor version runs on it; what it would run best is not known here.
          for (const target::Target& t : target::all()) {
            const bool exact = t.name.ends_with('a');
            if (!exact && t.compute_capability / 10 == cc / 10 && t.compute_capability <= cc) {
              return fmt::format("+{}", t.name);
            }
          }
          fail("the {} here is sm_{}, which no known target runs on", device().name, cc);
        } catch (const Error& e) {
          return fmt::format("-{}", e.what());
        }
      },
      [&](int, const JobEnd& end) {
        if (!end.crash.empty()) {
          found.why_not = "looking for a GPU was " + end.crash;
        } else if (end.result.starts_with('+')) {
          found.target = end.result.substr(1);
        } else {
          found.why_not = end.result.substr(1);
        }
      });
  return found;
}

}  // namespace zellige::run
