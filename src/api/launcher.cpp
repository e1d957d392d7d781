#include "api/launcher.hpp"

#include "graph/error.hpp"
#include "run/bound.hpp"
#include "run/driver.hpp"
#include "run/driver_table.hpp"

namespace zellige::api {
namespace {

/// While a stream is captured by a strict caller, only this lets memory be allocated.
class RelaxedCapture {
 public:
  RelaxedCapture() { run::check(run::driver().capture_mode(&mode_), "allocating while a graph is captured"); }
  ~RelaxedCapture() { run::driver().capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;

 private:
  int mode_ = 2;  // relaxed; then what was
};

}  // namespace

KeptContext::KeptContext() { run::check(run::driver().context_get(&before_), "the current context"); }
KeptContext::~KeptContext() { run::driver().context_set(before_); }

CurrentDevice::CurrentDevice(int device) {
  int now = -1;
  if (kept_.before()) run::check(run::driver().context_device(&now), "the current context's GPU");
  if (now != device) run::use_device(device);
}

const run::Device& current_gpu() {
  const KeptContext kept;
  if (!kept.before()) return run::device();
  int index = 0;
  run::check(run::driver().context_device(&index), "the current context's GPU");
  return run::device_info(index);
}

struct Launcher::Loaded {
  Loaded(const emit::Manifest& m, const run::Cubin& cubin) : program(m, cubin) {}
  const run::LoadedProgram program;
};

Launcher::Launcher(const emit::Manifest& m, run::Cubin cubin) : manifest_(m), cubin_(std::move(cubin)) {}

Launcher::~Launcher() {
  try {
    const run::Driver& d = run::driver();
    const KeptContext kept;
    for (const auto& [key, address] : workspaces_) {
      d.context_set(std::get<0>(key));
      d.free(address);
    }
    for (auto& [context, program] : loaded_) {
      d.context_set(context);
      program.reset();
    }
  } catch (const Error&) {  // at the end of a process the driver may have gone before
  }
}

Launcher::Loaded& Launcher::loaded(void* context) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Loaded>& mine = loaded_[context];
  if (!mine) {
    run::require_architecture(cubin_.architecture, current_gpu());
    mine = std::make_unique<Loaded>(manifest_, cubin_);
  }
  return *mine;
}

std::uint64_t Launcher::workspace(void* context, void* stream) {
  if (manifest_.buffer_size == 0) return 0;
  int capturing = 0;
  std::uint64_t id = 0;
  run::check(run::driver().capture_info(stream, &capturing, &id, nullptr, nullptr, nullptr),
             "the stream's state");
  const std::lock_guard lock(mutex_);
  std::uint64_t& address = workspaces_[{context, stream, capturing ? id : 0}];
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
    run::device();  // the thread has none yet: the standard device's
    run::check(run::driver().context_get(&context), "the current context");
  }
  const Loaded& mine = loaded(context);
  const std::uint64_t space = given ? reinterpret_cast<std::uint64_t>(given) : workspace(context, stream);
  const run::BoundProgram bound(mine.program, [&](std::size_t i) {
    const emit::TensorPlace& t = manifest_.tensors[i];
    if (t.role == emit::Role::intermediate) return space + static_cast<std::uint64_t>(t.offset);
    const auto at = static_cast<std::size_t>(t.position);
    return reinterpret_cast<std::uint64_t>(t.role == emit::Role::input ? inputs[at] : outputs[at]);
  });
  bound.launch(stream, run::Overlap::all);
}

}  // namespace zellige::api
