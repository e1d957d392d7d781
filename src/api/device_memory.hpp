// What the driver knows of the addresses that one launch is given, asked before a kernel would end in an illegal access: memory of the
// host, memory that was freed, memory of a GPU out of reach, and tensors that pass the end of their allocation.
//
//   DeviceMemory known;
//   for (each tensor) known.check(manifest, place, address);      // one question per allocation, however many tensors lie in it
//
// Nothing is remembered from one launch to the next: an allocation may end in between.
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
  /// What was found in place of so many bytes; "" where they are there.
  std::string found_instead(const void* at, std::int64_t bytes);

  std::array<Range, 8> ranges_{};  // that can be accessed
  std::size_t next_ = 0;
};

}  // namespace zellige::api
