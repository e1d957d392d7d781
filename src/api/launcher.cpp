#include "api/launcher.hpp"

#include "api/device_memory.hpp"
#include "graph/error.hpp"
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

}  // namespace

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
  Loaded(const emit::Manifest& m, const run::Cubin& cubin) : program(m, cubin) {}
  const run::LoadedProgram program;
  bool captured = false;  // used by a CUDA graph, which may be replayed at any time
};

Launcher::Launcher(const emit::Manifest& m, run::Cubin cubin) : manifest_(m), cubin_(std::move(cubin)) {}

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
  if (manifest_.buffer_size == 0) return 0;
  const std::lock_guard lock(mutex_);
  std::uint64_t& address = workspaces_[{context, stream, capture}];
  if (!address) {
    const RelaxedCapture relaxed;
    run::check(run::driver().alloc(&address, static_cast<std::size_t>(manifest_.buffer_size)),
               fmt::format("allocating a workspace of {} bytes", manifest_.buffer_size));
  }
  return address;
}

void Launcher::launch(void* const* inputs, void* const* outputs, void* given, void* stream) {
  void* context = nullptr;
  run::check(run::driver().context_get(&context), "the current context");
  if (!context) {
    run::device();  // the thread has no context: use the default device's
    run::check(run::driver().context_get(&context), "the current context");
  }
  const auto address = [&](const emit::TensorPlace& t) {
    return (t.role == emit::Role::input ? inputs : outputs)[t.position];
  };
  DeviceMemory memory;
  for (const emit::TensorPlace& t : manifest_.tensors)
    if (t.role != emit::Role::intermediate) memory.check(manifest_, t, address(t));
  if (given) memory.check_workspace(manifest_, given);
  const std::uint64_t capture = capture_of(stream);
  const Loaded& mine = loaded(context, capture);
  const std::uint64_t space = given ? reinterpret_cast<std::uint64_t>(given) : workspace(context, stream, capture);
  const run::BoundProgram bound(mine.program, [&](std::size_t i) {
    const emit::TensorPlace& t = manifest_.tensors[i];
    return t.role == emit::Role::intermediate ? space + static_cast<std::uint64_t>(t.offset)
                                              : reinterpret_cast<std::uint64_t>(address(t));
  });
  bound.launch(stream, run::Overlap::all);
}

}  // namespace zellige::api
