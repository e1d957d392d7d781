// A compiled program on the caller's GPUs: loaded once a context, launched on any stream from any thread.
//
//   Launcher launcher(emitted, cubin);
//   launcher.launch(address, nullptr, stream);        // in the current context; may be captured
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "emit/emit.hpp"
#include "run/driver.hpp"
#include "run/nvrtc.hpp"

namespace zellige::api {

/// Makes current again, when it ends, the context that is current where it begins: frameworks take their device from it. Fails
/// where there is no driver.
class KeptContext {
 public:
  KeptContext();
  ~KeptContext();
  KeptContext(const KeptContext&) = delete;
  KeptContext& operator=(const KeptContext&) = delete;
  void* before() const { return before_; }

 private:
  void* before_ = nullptr;
};

/// Makes a device's primary context current for as long as this lives. It is the context that the CUDA runtime, and with it every
/// framework, uses.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);

 private:
  KeptContext kept_;
};

/// The GPU of the current context, else the one that $ZELLIGE_DEVICE names.
const run::Device& current_gpu();

class Launcher {
 public:
  Launcher(const emit::Manifest&, run::Cubin);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// Addresses by position. Without a workspace it is one of the launcher's: one a stream, and one a captured graph, since work on a
  /// stream comes one after another, and a graph is replayed on any. What a captured graph uses outlives the launcher.
  void launch(void* const* inputs, void* const* outputs, void* workspace, void* stream);

 private:
  struct Loaded;
  Loaded& loaded(void* context, std::uint64_t capture);
  std::uint64_t workspace(void* context, void* stream, std::uint64_t capture);

  const emit::Manifest& manifest_;
  const run::Cubin cubin_;
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Loaded>> loaded_;  // by context
  std::map<std::tuple<void*, void*, std::uint64_t>, std::uint64_t>
      workspaces_;  // by context, stream, capture
};

}  // namespace zellige::api
