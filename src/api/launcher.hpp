// Launches a compiled program on the caller's GPUs: loads it once per context, and launches it on any stream
// from any thread.
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

/// Restores the current context on destruction, because frameworks take their device from it. Throws Error if
/// there is no driver.
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

/// Makes a device's primary context current during its lifetime: the context of the CUDA runtime and thus of
/// every framework.
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

  /// Addresses by position. Without a workspace the launcher provides one per stream (whose work is
  /// sequential), and one per captured graph (which may be replayed on any stream). Memory used by a captured
  /// graph outlives the launcher.
  void launch(void* const* inputs, void* const* outputs, void* workspace, void* stream);

 private:
  struct Loaded;
  Loaded& loaded(void* context, std::uint64_t capture);
  std::uint64_t workspace(void* context, void* stream, std::uint64_t capture);

  const emit::Manifest& manifest_;
  const run::Cubin cubin_;
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Loaded>> loaded_;  // per context
  // by context, stream, capture
  std::map<std::tuple<void*, void*, std::uint64_t>, std::uint64_t> workspaces_;
};

}  // namespace zellige::api
