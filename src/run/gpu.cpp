#include "run/gpu.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "graph/error.hpp"
#include "run/bound.hpp"
#include "system/elapsed.hpp"
#include "target/target.hpp"

namespace zellige::run {
namespace {

constexpr std::int64_t guard_bytes = 256;  // after every tensor, to detect writes beyond its end

// A kernel that fills shared memory with NaN. Without it, shared memory would hold what the previous kernel wrote.
constexpr const char* poison_ptx = R"(
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 memory[];
.visible .entry poison(.param .u64 bytes) {
  .reg .pred %more;
  .reg .b32 %at, %end, %step, %base, %address, %nan;
  ld.param.u32 %end, [bytes];
  mov.u32 %base, memory;
  mov.u32 %at, %tid.x;
  mov.u32 %step, %ntid.x;
  shl.b32 %at, %at, 2;
  shl.b32 %step, %step, 2;
  mov.u32 %nan, 0xffffffff;
again:
  add.u32 %address, %base, %at;
  st.shared.u32 [%address], %nan;
  add.u32 %at, %at, %step;
  setp.lt.u32 %more, %at, %end;
  @%more bra again;
  ret;
}
)";

/// Returns the index of the output that is stored in the memory of the input `tensor` (an update in place);
/// if there is none, `tensor` itself.
std::size_t result_in(const manifest::Manifest& m, std::size_t tensor) {
  for (std::size_t i = 0; i < m.tensors.size(); ++i)
    if (m.tensors[i].memory == static_cast<int>(tensor)) return i;
  return tensor;
}

// Device memory for the manifest's tensors: a workspace for intermediates, and one allocation per other tensor.
class GpuMemory {
 public:
  GpuMemory(const manifest::Manifest& m, const std::vector<Bytes>& storage) : manifest_(m), workspace_(m.buffer_size) {
    workspace_.fill(0xff);
    for (std::size_t i = 0; i < m.tensors.size(); ++i) {
      const bool own = m.tensors[i].role != manifest::Role::intermediate;
      const auto bytes = static_cast<std::int64_t>(storage[i].size());
      owned_.emplace_back(own ? bytes + guard_bytes : 0);
      owned_.back().fill(0xff);
      if (own) owned_.back().upload(storage[i].data(), bytes);
    }
  }
  std::uint64_t address(std::size_t i) const {
    const manifest::TensorPlace& t = manifest_.tensors[i];
    return t.role == manifest::Role::intermediate ? workspace_.address() + static_cast<std::uint64_t>(t.offset)
                                                  : owned_[i].address();
  }
  /// Fills workspace and outputs with poison (NaN), as they are before the first launch.
  void poison() {
    workspace_.fill(0xff);
    for (std::size_t i = 0; i < owned_.size(); ++i)
      if (manifest_.tensors[i].role == manifest::Role::output) owned_[i].fill(0xff);
  }
  void upload(std::size_t i, const Bytes& values) {
    owned_[i].upload(values.data(), static_cast<std::int64_t>(values.size()));
  }
  std::int64_t bytes() const {  // size of the inputs and outputs
    std::int64_t sum = 0;
    for (const DeviceBytes& b : owned_) sum += b.bytes();
    return sum;
  }
  /// Allocates a copy of the inputs and outputs. Intermediates are not copied: all evaluations share the workspace.
  std::vector<DeviceBytes> another() const {
    std::vector<DeviceBytes> set;
    for (const DeviceBytes& b : owned_) set.emplace_back(b.bytes()).copy(b);
    return set;
  }
  // Downloads tensor number i from the GPU to `into`. Throws Fault if a kernel has written beyond the tensor's end.
  void fetch(std::size_t i, Bytes& into) const {
    const manifest::TensorPlace& t = manifest_.tensors[i];
    const auto bytes = static_cast<std::int64_t>(into.size());
    if (t.role == manifest::Role::intermediate) return workspace_.download(into.data(), bytes, t.offset);
    owned_[i].download(into.data(), bytes);
    Bytes guard(guard_bytes);
    owned_[i].download(guard.data(), guard_bytes, bytes);
    if (std::ranges::any_of(guard, [](std::byte b) { return b != std::byte{0xff}; }))
      fault("tensor {}: a kernel wrote beyond its end, within {} bytes of it", t.name, guard_bytes);
  }

 private:
  const manifest::Manifest& manifest_;
  DeviceBytes workspace_;
  std::vector<DeviceBytes> owned_;
};

// Fills the shared memory of all multiprocessors with NaN. `bytes`: the program's largest shared memory per block.
void poison_shared_memory(Stream& stream, std::int64_t bytes) {
  bytes = std::max(bytes, target::shared_without_asking);
  const Module module(poison_ptx);
  const DriverFunction poison = module.function("poison", "poison", bytes);
  // There are more blocks than multiprocessors, and each is so large that few fit on one.
  launch(stream.handle(), poison, {{1024, 1, 1}, {256, 1, 1}, bytes}, {{static_cast<std::uint64_t>(bytes)}});
  stream.wait();
}

/// Runs the program in a CUDA graph in which its kernels may overlap: twice, or once if it updates an input
/// in place. Returns, as a sentence, how the outputs differ from those in `storage`; "" if they are equal.
std::string differs_as_a_unit(Stream& stream, const BoundProgram& bound, GpuMemory& memory, const manifest::Manifest& m,
                              const std::vector<Bytes>& storage) {
  memory.poison();
  bool changed = false;  // some input is overwritten: a second evaluation would have other inputs
  for (std::size_t t = 0; t < m.tensors.size(); ++t)
    if (result_in(m, t) != t) changed = true, memory.upload(t, storage[t]);
  const CapturedGraph twice(stream, [&] {
    for (int i = changed ? 1 : 0; i < 2; ++i) bound.launch(stream.handle(), Overlap::all);
  });
  twice.launch(stream);
  stream.wait();
  for (std::size_t t = 0; t < m.tensors.size(); ++t) {
    if (m.tensors[t].role != manifest::Role::output) continue;
    Bytes found(storage[t].size());
    memory.fetch(m.tensors[t].memory < 0 ? t : static_cast<std::size_t>(m.tensors[t].memory), found);
    const auto at = std::mismatch(found.begin(), found.end(), storage[t].begin()).first - found.begin();
    if (at < static_cast<std::ptrdiff_t>(found.size()))
      return fmt::format(
          "{}: launched as one unit, each kernel starting before the previous one has ended, output {} differs at byte "
          "{} from what the kernels write one after another",
          m.name, m.tensors[t].name, at);
  }
  return "";
}

constexpr int warm_up = 20, launches_when_hot = 200;  // numbers of evaluations for hot
constexpr int rounds = 15, few_rounds = 3;            // for rotated
constexpr double round_ms = 10;
constexpr int max_sets = 64;

/// A way of launching the program on all sets of inputs and outputs, captured in a CUDA graph.
struct TimedLaunch {
  std::vector<double>* into;  // receives the samples
  std::unique_ptr<CapturedGraph> graph;
  int repeats = 1;
};

// Returns the milliseconds that `repeats` launches of the graph take.
double replays_ms(Stream& stream, const CapturedGraph& graph, int repeats) {
  Event before, after;
  before.record(stream);
  for (int i = 0; i < repeats; ++i) graph.launch(stream);
  after.record(stream);
  stream.wait();
  return after.ms_since(before);
}

/// Returns the smallest number of sets of inputs and outputs, of `bytes` bytes each, that together exceed
/// three times the device's L2; at most 64.
int sets_beyond_l2(std::int64_t bytes) {
  const std::int64_t beyond = 3 * static_cast<std::int64_t>(device().l2_bytes);
  return static_cast<int>(std::clamp<std::int64_t>(beyond / std::max<std::int64_t>(bytes, 1) + 1, 1, max_sets));
}

/// Returns times with a cold L2. Evaluates the program in turn on each of `sets`, which bind it to different
/// inputs and outputs. `brief`: measures only three rounds, and, of a program with programmatic dependent
/// launch (PDL), only launches in which all kernels may overlap.
Times time_rotated(Stream& stream, const LoadedProgram& program, const std::vector<BoundProgram>& sets, bool brief) {
  Times times{.how = Timing::rotated, .sets = static_cast<int>(sets.size())};
  std::vector<TimedLaunch> ways;
  const auto add = [&](Overlap overlap, std::vector<double>& into) {
    auto graph = std::make_unique<CapturedGraph>(stream, [&] {
      for (const BoundProgram& set : sets) set.launch(stream.handle(), overlap);
    });
    ways.push_back({&into, std::move(graph)});
  };
  if (program.programmatic()) {
    add(Overlap::all, times.samples);
    if (!brief) add(Overlap::kernels, times.without_overlap), add(Overlap::none, times.ordered);
  } else {
    add(Overlap::none, times.samples);
  }
  for (TimedLaunch& way : ways) {
    replays_ms(stream, *way.graph, 1);  // the first launch of a graph is slower
    way.repeats = std::max(1, static_cast<int>(round_ms / std::max(replays_ms(stream, *way.graph, 1), 1e-3)));
  }
  for (int r = 0; r < (brief ? few_rounds : rounds); ++r) {
    for (const TimedLaunch& way : ways)
      way.into->push_back(1e3 * replays_ms(stream, *way.graph, way.repeats) / way.repeats / times.sets);
    std::ranges::reverse(ways);
  }
  return times;
}

/// Returns the times of 200 evaluations of the program with a warm L2, each measured between two CUDA events.
Times time_hot(Stream& stream, const BoundProgram& program) {
  Times times{.how = Timing::hot};
  for (int i = 0; i < warm_up; ++i) program.launch(stream.handle(), Overlap::kernels);
  stream.wait();
  // Evaluations per batch. The stream is blocked while a batch is enqueued, so that no launch waits for the host.
  const int batch = std::clamp(400 / (program.kernels() + 2), 1, 50);
  while (static_cast<int>(times.samples.size()) < launches_when_hot) {
    const int n = std::min(batch, launches_when_hot - static_cast<int>(times.samples.size()));
    std::vector<Event> before(n), after(n);
    Gate gate(stream);
    for (int i = 0; i < n; ++i) {
      before[i].record(stream);
      program.launch(stream.handle(), Overlap::kernels);
      after[i].record(stream);
    }
    gate.open();
    stream.wait();
    for (int i = 0; i < n; ++i) times.samples.push_back(1e3 * after[i].ms_since(before[i]));
  }
  return times;
}

// Returns the measured times of the program, with a cold or a warm L2 as `how` says; `brief`: with fewer rounds.
Times timed(Stream& stream, const LoadedProgram& program, const BoundProgram& bound, const GpuMemory& memory,
            Timing how, bool brief = false) {
  if (how == Timing::hot) return time_hot(stream, bound);
  std::vector<std::vector<DeviceBytes>> memories;
  std::vector<BoundProgram> sets{bound};
  for (int i = sets_beyond_l2(memory.bytes()); i > 1; --i) {
    const std::vector<DeviceBytes>& set = memories.emplace_back(memory.another());
    sets.emplace_back(program,
                      [&](std::size_t t) { return set[t].bytes() > 0 ? set[t].address() : memory.address(t); });
  }
  return time_rotated(stream, program, sets, brief);
}

}  // namespace

system::OpenFile lock_gpu(const toolchain::Cache& cache) {
  const std::string file = (cache.folder(".") / "gpu.lock").string();
  system::OpenFile lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.fd < 0 || ::flock(lock.fd, LOCK_EX) != 0) fail("{}: cannot be locked: {}", file, std::strerror(errno));
  return lock;
}

GpuRun run_on_gpu(const manifest::Manifest& m, const toolchain::Cubin& cubin, std::vector<Bytes>& storage,
                  Timing time) {
  require_architecture(cubin.architecture);
  check(m);
  GpuRun result;
  const auto start = system::SteadyClock::now();
  const LoadedProgram program(m, cubin);
  GpuMemory memory(m, storage);
  const BoundProgram bound(program, [&](std::size_t t) { return memory.address(t); });
  Stream stream;
  for (std::size_t k = 0; k < m.kernels.size(); ++k) {
    result.kernels.push_back({m.kernels[k].name, program.function(k).registers, program.function(k).local_bytes});
    poison_shared_memory(stream, program.max_shared_bytes());
    bound.launch_one(stream.handle(), k);
    stream.wait();
    for (std::size_t i = 0; i < m.kernels[k].tensors.size(); ++i) {
      const auto t = static_cast<std::size_t>(m.kernels[k].tensors[i]);
      if (m.kernels[k].writes[i]) memory.fetch(t, storage[result_in(m, t)]);
    }
  }
  if (program.programmatic()) result.fault = differs_as_a_unit(stream, bound, memory, m, storage);
  result.run_ms = system::ms_since(start);
  if (time != Timing::off) result.times = timed(stream, program, bound, memory, time);
  return result;
}

std::vector<double> measure_on_gpu(const manifest::Manifest& m, const toolchain::Cubin& cubin,
                                   std::vector<Bytes>& storage) {
  require_architecture(cubin.architecture);
  check(m);
  const LoadedProgram program(m, cubin);
  GpuMemory memory(m, storage);
  const BoundProgram bound(program, [&](std::size_t t) { return memory.address(t); });
  Stream stream;
  return timed(stream, program, bound, memory, Timing::rotated, true).samples;
}

}  // namespace zellige::run
