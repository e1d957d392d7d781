// Checks the addresses of a launch with the driver, so that they do not end in an illegal access: host
// memory, freed memory, memory of a GPU out of reach, and tensors that extend beyond their allocation.
//
//   DeviceMemory known;
//   for (each tensor) known.check(manifest, place, address);  // one query per allocation
//
// Nothing is cached between launches: an allocation may be freed in between.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "emit/manifest.hpp"

namespace zellige::api {

class DeviceMemory {
 public:
  /// Throws Error unless kernels of the current context can access the whole tensor.
  void check(const emit::Manifest&, const emit::TensorPlace&, const void* at);
  void check_workspace(const emit::Manifest&, const void* at);

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  /// Describes what was found instead of `bytes` accessible bytes; "" if they are accessible.
  std::string found_instead(const void* at, std::int64_t bytes);

  std::array<Range, 8> ranges_{};  // known to be accessible
  std::size_t next_ = 0;
};

}  // namespace zellige::api
