#include "api/launcher.hpp"

#include <algorithm>
#include <array>

#include "api/arguments.hpp"
#include "graph/error.hpp"
#include "manifest/variants.hpp"
#include "run/bound.hpp"
#include "run/driver_table.hpp"

namespace zellige::api {
namespace {

/// Allows memory allocation during its lifetime while a stream is captured into a CUDA graph. A stricter
/// capture mode would forbid it.
class RelaxedCapture {
 public:
  RelaxedCapture() { run::check(run::driver().capture_mode(&mode_), "allocating while a graph is captured"); }
  ~RelaxedCapture() { run::driver().capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;

 private:
  int mode_ = 2;  // relaxed; after the swap, the previous mode
};

/// Returns the id of the CUDA graph capture that a stream is in; 0 if the stream is not being captured.
std::uint64_t capture_of(void* stream) {
  int capturing = 0;
  std::uint64_t id = 0;
  run::check(run::driver().capture_info(stream, &capturing, &id, nullptr, nullptr, nullptr), "the stream's state");
  return capturing ? id : 0;
}

/// An allocation as cuPointerGetAttributes reports it; all members are 0 if CUDA does not know the memory.
struct Allocation {
  unsigned type = 0;
  std::uint64_t address = 0;  // address for kernels of the current context; 0: they cannot access it
  int device = 0;
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
};

/// Returns the allocation that contains an address. All members are 0 if CUDA has not allocated this memory.
Allocation allocation_at(std::uint64_t at) {
  enum { memory_type = 2, device_pointer = 3, device_ordinal = 9, range_start = 11, range_size = 12 };
  Allocation a;
  int attributes[] = {memory_type, device_pointer, device_ordinal, range_start, range_size};
  void* values[] = {&a.type, &a.address, &a.device, &a.begin, &a.bytes};
  constexpr int invalid_value = 1;
  if (const int status = run::driver().pointer_attributes(std::size(attributes), attributes, values, at);
      status == invalid_value)
    return {};
  else
    run::check(status, "asking whose memory an address is");
  return a;
}

/// Memory that is known to be accessible during one launch: host memory, freed memory, memory of an inaccessible GPU, and
/// tensors that extend beyond their allocation would cause an illegal access. Asks the driver once per allocation. Each
/// launch needs a new object, because an allocation may be freed between two launches.
class DeviceMemory {
 public:
  /// Throws Error unless kernels of the current context can access all bytes of the tensor, which begins at `at`.
  void check(const manifest::Manifest&, const manifest::TensorPlace&, const void* at);
  /// Throws Error unless the workspace is aligned to 256 bytes and kernels of the current context can access all of it.
  void check_workspace(const manifest::Manifest&, const void* at);

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  /// Returns "" if kernels of the current context can access all `bytes` bytes at `at`. Otherwise returns in
  /// words what kind of memory is there instead, for an error message.
  std::string found_instead(const void* at, std::int64_t bytes);

  std::array<Range, 8> ranges_{};  // allocations known to be accessible
  std::size_t next_ = 0;
};

std::string DeviceMemory::found_instead(const void* address, std::int64_t bytes) {
  const auto at = reinterpret_cast<std::uint64_t>(address), end = at + static_cast<std::uint64_t>(bytes);
  // Adjacent allocations count as one.
  for (std::uint64_t next = at; next < end;) {
    const auto known = std::ranges::find_if(ranges_, [&](const Range& r) { return r.begin <= next && next < r.end; });
    if (known != ranges_.end()) {
      next = known->end;
      continue;
    }
    const Allocation a = allocation_at(next);
    if (a.type == 0 && next == at)
      return fmt::format("{}, where CUDA knows none: it is the host's, or was freed", address);
    if (a.type == 0) return fmt::format("{} up to the end of the allocation", next - at);
    if (a.address == 0) return fmt::format("{} on cuda:{}, which the current context cannot access", address, a.device);
    const Range range{a.begin, a.begin + a.bytes};
    // The driver does not report the extent of this memory.
    if (next < range.begin || range.end <= next) break;
    ranges_[next_++ % ranges_.size()] = range;
    next = range.end;
  }
  return {};
}

void DeviceMemory::check(const manifest::Manifest& m, const manifest::TensorPlace& t, const void* at) {
  if (const std::string found = found_instead(at, t.bytes); !found.empty())
    mistake(m, t, "expected {} bytes of the GPU's memory, found {}", t.bytes, found);
}

void DeviceMemory::check_workspace(const manifest::Manifest& m, const void* at) {
  constexpr std::uintptr_t multiple = 256;
  if (const auto misalignment = reinterpret_cast<std::uintptr_t>(at) % multiple)
    fail("program {}, workspace: expected memory that begins at a multiple of {} bytes, found {} above one", m.name,
         multiple, misalignment);
  if (const std::string found = found_instead(at, m.buffer_size); !found.empty())
    fail("program {}, workspace: expected {} bytes of the GPU's memory, found {}", m.name, m.buffer_size, found);
}

}  // namespace

void require_device_memory(const manifest::Manifest& m, const manifest::TensorPlace& t, const void* at) {
  DeviceMemory().check(m, t, at);
}

KeptContext::KeptContext() { run::check(run::driver().context_get(&before_), "the current context"); }
KeptContext::~KeptContext() { run::driver().context_set(before_); }

void KeptContext::use(int device) const {
  int now = -1;
  if (before_) run::check(run::driver().context_device(&now), "the current context's GPU");
  if (now != device) run::use_device(device);
}

const run::Device& current_gpu() {
  const KeptContext kept;
  if (!kept.before()) return run::device();
  int index = 0;
  run::check(run::driver().context_device(&index), "the current context's GPU");
  return run::device_info(index);
}

/// The program's modules in one context.
struct Launcher::Loaded {
  Loaded(const manifest::Manifest& m, const toolchain::Cubin& cubin) : program(m, cubin) {}
  const run::LoadedProgram program;
  bool captured = false;  // used by a CUDA graph, which may be replayed at any time
};

Launcher::Launcher(const manifest::Manifest& m, toolchain::Cubin cubin)
    : manifest_(m), cubin_(std::move(cubin)), workspace_bytes_(manifest::largest_workspace(m)) {}

Launcher::~Launcher() {
  try {
    const run::Driver& d = run::driver();
    const KeptContext kept;
    const RelaxedCapture relaxed;
    for (const auto& [key, address] : workspaces_)
      if (const auto& [context, stream, capture] = key; !capture && d.context_set(context) == 0) d.free(address);
    for (auto& [context, program] : loaded_)
      if (program && (program->captured || d.context_set(context) != 0))
        static_cast<void>(program.release());  // remains loaded until the process exits
      else
        program.reset();
  } catch (...) {  // at process exit the driver may be gone already
    for (auto& [context, program] : loaded_) static_cast<void>(program.release());
  }
}

Launcher::Loaded& Launcher::loaded(void* context, std::uint64_t capture) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Loaded>& mine = loaded_[context];
  if (!mine) {
    run::require_architecture(cubin_.architecture, current_gpu());
    mine = std::make_unique<Loaded>(manifest_, cubin_);
  }
  mine->captured = mine->captured || capture;
  return *mine;
}

std::uint64_t Launcher::workspace(void* context, void* stream, std::uint64_t capture) {
  if (workspace_bytes_ == 0) return 0;
  const std::lock_guard lock(mutex_);
  std::uint64_t& address = workspaces_[{context, stream, capture}];
  if (!address) {
    const RelaxedCapture relaxed;
    run::check(run::driver().alloc(&address, static_cast<std::size_t>(workspace_bytes_)),
               fmt::format("allocating a workspace of {} bytes", workspace_bytes_));
  }
  return address;
}

void Launcher::launch(const manifest::Manifest& launch, void* const* inputs, void* const* outputs, void* given,
                      void* stream, KeptLaunch* kept) {
  void* context = nullptr;
  run::check(run::driver().context_get(&context), "the current context");
  if (!context) {
    run::device();  // the thread has no context: use the default device's
    run::check(run::driver().context_get(&context), "the current context");
  }
  const auto address = [&](const manifest::TensorPlace& t) {
    return (t.role == manifest::Role::input ? inputs : outputs)[t.position];
  };
  DeviceMemory memory;
  for (const manifest::TensorPlace& t : launch.tensors)
    if (t.role != manifest::Role::intermediate && !kept) memory.check(launch, t, address(t));
  if (given) memory.check_workspace(launch, given);
  const std::uint64_t capture = capture_of(stream);
  const Loaded& mine = loaded(context, capture);
  const std::uint64_t space = given ? reinterpret_cast<std::uint64_t>(given) : workspace(context, stream, capture);
  const auto of_tensor = [&](std::size_t i) {
    const manifest::TensorPlace& t = launch.tensors[i];
    return t.role == manifest::Role::intermediate ? space + static_cast<std::uint64_t>(t.offset)
                                                  : reinterpret_cast<std::uint64_t>(address(t));
  };
  std::unique_lock<std::mutex> lock;
  if (kept) lock = std::unique_lock(kept->mutex, std::try_to_lock);
  if (!lock.owns_lock())  // another thread launches with these arguments
    return run::BoundProgram(mine.program, launch, of_tensor, descriptors_).launch(stream, run::Overlap::all);
  if (kept->loaded == &mine) {
    kept->bound->rebind(of_tensor, descriptors_);
  } else {
    kept->loaded = nullptr;
    kept->bound = std::make_unique<run::BoundProgram>(mine.program, launch, of_tensor, descriptors_);
    kept->loaded = &mine;
  }
  kept->bound->launch(stream, run::Overlap::all);
}

}  // namespace zellige::api
