#include "api/device_memory.hpp"

#include <algorithm>

#include "api/arguments.hpp"
#include "graph/error.hpp"
#include "run/driver_table.hpp"

namespace zellige::api {
namespace {

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

}  // namespace

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

void DeviceMemory::check(const emit::Manifest& m, const emit::TensorPlace& t, const void* at) {
  if (const std::string found = found_instead(at, t.bytes); !found.empty())
    mistake(m, t, "expected {} bytes of the GPU's memory, found {}", t.bytes, found);
}

void DeviceMemory::check_workspace(const emit::Manifest& m, const void* at) {
  constexpr std::uintptr_t multiple = 256;
  if (const auto misalignment = reinterpret_cast<std::uintptr_t>(at) % multiple)
    fail("program {}, workspace: expected memory that begins at a multiple of {} bytes, found {} above one", m.name,
         multiple, misalignment);
  if (const std::string found = found_instead(at, m.buffer_size); !found.empty())
    fail("program {}, workspace: expected {} bytes of the GPU's memory, found {}", m.name, m.buffer_size, found);
}

}  // namespace zellige::api
