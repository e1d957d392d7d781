// The emulated device memory of a CUDA program: what it has allocated, and its `__device__` and `__constant__` variables.
//
// Allocations lie in one range of addresses, with room between them, so that an access beyond one hits none. Freed memory
// is not given out again, so that a use of it is found.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "emulate/buffer.hpp"
#include "zellige/cuda/host.hpp"

namespace zellige::cuda {

/// An allocation, or a variable of the program.
struct ProgramAllocation {
  std::unique_ptr<emulate::Buffer> buffer;
  MemoryKind kind{};
  bool freed = false;
  const emulate::Region* region = nullptr;  // during a launch: as the emulator knows it

  unsigned char* begin() const { return buffer->data(); }
  std::size_t bytes() const { return buffer->bytes(); }
  const std::string& name() const { return buffer->name(); }
  bool contains(const void* p) const { return p >= begin() && p < begin() + bytes(); }
};

/// All allocations by address.
class ProgramMemory {
 public:
  static constexpr std::size_t capacity = std::size_t(8) << 30;

  ProgramMemory();
  ~ProgramMemory();
  ProgramMemory(const ProgramMemory&) = delete;

  /// Allocates memory; null if less than `bytes` are left.
  ProgramAllocation* allocate(std::size_t bytes, MemoryKind, const std::string& name);
  /// Adds a variable of the program, which lies where it lies and is initialized.
  void adopt(const Declaration&);
  /// Frees the allocation that begins at p. Returns false if there is none, or if it is freed already.
  bool release(const void* p);

  /// Returns the allocation that contains p, or that lies nearest before it (after it, if none is before) in the range
  /// of the allocations; null for other memory.
  ProgramAllocation* near(const void* p) const;
  /// Returns whether p is an address of the device: of an allocation, or between allocations.
  bool owns(const void* p) const { return p >= range_ && p < range_ + range_bytes; }
  std::size_t used() const { return used_; }
  const std::map<std::uintptr_t, std::unique_ptr<ProgramAllocation>>& all() const { return all_; }

 private:
  static constexpr std::size_t range_bytes = std::size_t(1) << 40;

  unsigned char *range_ = nullptr, *next_ = nullptr;
  std::size_t used_ = 0;
  std::map<std::uintptr_t, std::unique_ptr<ProgramAllocation>> all_;
};

}  // namespace zellige::cuda
