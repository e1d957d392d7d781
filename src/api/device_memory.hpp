// Checks the addresses of a launch with the CUDA driver, so that they do not cause an illegal access. Rejects
// host memory, freed memory, memory of an inaccessible GPU, and tensors that extend beyond their allocation.
//
//   DeviceMemory known;
//   for (each tensor) known.check(manifest, place, address);  // place: the tensor's description in the manifest
//
// Queries the driver once per allocation. Each launch needs a new object, because an allocation may be freed
// between two launches.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "emit/manifest.hpp"

namespace zellige::api {

/// Memory that is known to be accessible during one launch.
class DeviceMemory {
 public:
  /// Throws Error unless kernels of the current context can access all bytes of the tensor, which begins at `at`.
  void check(const emit::Manifest&, const emit::TensorPlace&, const void* at);
  /// Throws Error unless the workspace is aligned to 256 bytes and kernels of the current context can access all of it.
  void check_workspace(const emit::Manifest&, const void* at);

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

}  // namespace zellige::api
