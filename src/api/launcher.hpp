// Launches a compiled program on GPUs, on tensors in the caller's memory. Loads the program's modules once per
// CUDA context. Any thread may launch, on any stream.
//
//   Launcher launcher(manifest, cubin);
//   launcher.launch(inputs, outputs, /*workspace=*/nullptr, stream);   // device addresses; may be captured
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "manifest/manifest.hpp"
#include "run/bound.hpp"
#include "run/driver.hpp"
#include "toolchain/nvrtc.hpp"

namespace zellige::api {

/// Saves the thread's current context and restores it on destruction, because frameworks derive their current
/// device from it. Throws Error if there is no CUDA driver.
class KeptContext {
 public:
  KeptContext();
  ~KeptContext();
  KeptContext(const KeptContext&) = delete;
  KeptContext& operator=(const KeptContext&) = delete;
  void* before() const { return before_; }  // the context that was current; null: none
  /// Makes a device's primary context current. The CUDA runtime, and so every framework, uses the primary context.
  void use(int device) const;

 private:
  void* before_ = nullptr;
};

/// Returns the GPU of the thread's current context, or the one that $ZELLIGE_DEVICE names if there is no context.
const run::Device& current_gpu();

/// Throws Error unless kernels of the current context can access all bytes of a tensor of the manifest, which begins at `at`.
void require_device_memory(const manifest::Manifest&, const manifest::TensorPlace&, const void* at);

/// The arguments of a launch, which the next one of the same manifest takes over with its own addresses.
struct KeptLaunch {
  std::mutex mutex;
  const void* loaded = nullptr;  // of which modules the arguments are
  std::unique_ptr<run::BoundProgram> bound;
};

/// Launches one compiled program on streams of any GPU. Thread-safe.
class Launcher {
 public:
  Launcher(const manifest::Manifest&, toolchain::Cubin);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// Launches the program in the thread's current context. `launch`: the manifest of this launch, of a program with sizes
  /// with their values. `inputs`, `outputs`: device addresses in the order of the graph's inputs and outputs. Throws Error if
  /// kernels cannot access an address.
  ///
  /// `workspace`: memory of launch.buffer_size bytes that no concurrent launch uses. If it is null, the
  /// launcher allocates one workspace per stream, for the largest sizes, and one per captured CUDA graph, because a graph may be
  /// replayed on any stream. Memory and modules that a captured graph uses outlive the launcher.
  ///
  /// `kept`: of earlier launches with this manifest; not null: the addresses are those of tensors that their framework has on this
  /// GPU, about which the driver is not asked.
  void launch(const manifest::Manifest& launch, void* const* inputs, void* const* outputs, void* workspace,
              void* stream, KeptLaunch* kept = nullptr);

 private:
  struct Loaded;
  /// Returns the program's modules in a context; loads them at the first call. `capture`: id of the CUDA
  /// graph capture that uses them; 0 for none.
  Loaded& loaded(void* context, std::uint64_t capture);
  /// Returns the address of the workspace for a stream or captured graph; allocates it at the first call.
  /// Returns 0 if the program needs none.
  std::uint64_t workspace(void* context, void* stream, std::uint64_t capture);

  const manifest::Manifest& manifest_;
  const toolchain::Cubin cubin_;
  const std::int64_t workspace_bytes_;  // for the largest sizes
  run::KeptDescriptors descriptors_;
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Loaded>> loaded_;  // per context
  // key: context, stream, id of the graph capture
  std::map<std::tuple<void*, void*, std::uint64_t>, std::uint64_t> workspaces_;
};

}  // namespace zellige::api
