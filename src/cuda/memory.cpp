// The functions of CUDA's runtime API that allocate, copy and fill memory. Each copy is checked: that it stays within its
// allocations, that its direction is right, and that what the device gives has been written.
#include <fmt/format.h>

#include <cstring>

#include "cuda/session.hpp"
#include "zellige/cuda/runtime.hpp"

namespace zellige::cuda {

namespace {

using emulate::Site;

int refused(const std::string& kind, Site site, const std::string& message, int error) {
  session().report_host(kind, site, message);
  return error;
}

int allocate(void** out, std::size_t bytes, MemoryKind kind, const char* name) {
  if (bytes == 0) return *out = nullptr, cudaSuccess;
  const ProgramAllocation* const a = session().memory.allocate(bytes, kind, name);
  if (!a) return cudaErrorMemoryAllocation;
  *out = a->begin();
  return cudaSuccess;
}

int release(void* p) {
  const Site site = ZELLIGE_SITE();
  if (!p || session().memory.release(p)) return cudaSuccess;
  const ProgramAllocation* const a = session().memory.near(p);
  const std::string what = a && a->freed && a->begin() == p ? fmt::format("{}, which is freed already", a->name())
                                                            : "an address that no allocation begins at";
  return refused("invalid free", site, fmt::format("cudaFree at \1 of {}", what), cudaErrorInvalidValue);
}

/// One side of a copy.
struct Side {
  const void* p;
  bool device;                    // as the copy's kind says; for cudaMemcpyDefault as it is
  ProgramAllocation* allocation;  // null: the host's
};

// Returns whether the side is what the copy takes it for, and all of its bytes exist; otherwise reports.
bool check_side(const Side& s, std::size_t bytes, const char* role, const char* call, Site site) {
  if (s.device && !s.allocation) {
    refused("wrong direction", site,
            fmt::format("{} at \1: its {} is memory of the host, its kind says of the device", call, role), 0);
    return false;
  }
  if (!s.device && s.allocation && s.allocation->kind != MemoryKind::managed) {
    refused("wrong direction", site,
            fmt::format("{} at \1: its {} is {} on the device, its kind says memory of the host", call, role,
                        s.allocation->name()),
            0);
    return false;
  }
  if (!s.allocation) return true;
  const ProgramAllocation& a = *s.allocation;
  const auto from = static_cast<const unsigned char*>(s.p) - a.begin();
  if (a.freed) {
    refused("use after free", site, fmt::format("{} at \1: its {} is {}, which is freed", call, role, a.name()), 0);
    return false;
  }
  if (from < 0 || std::size_t(from) > a.bytes() || bytes > a.bytes() - std::size_t(from)) {
    refused("out of bounds", site,
            fmt::format("{} at \1: bytes {}..{} of {}, which has {}", call, from, from + std::ptrdiff_t(bytes),
                        a.name(), a.bytes()),
            0);
    return false;
  }
  return true;
}

// Copies one run of bytes between checked sides, with the marks of what is initialized.
void move_bytes(const Side& to, const Side& from, std::size_t bytes, bool& unwritten) {
  std::memmove(const_cast<void*>(to.p), from.p, bytes);
  std::uint8_t* const marks_to = to.allocation ? to.allocation->buffer->flags() : nullptr;
  std::uint8_t* const marks_from = from.allocation ? from.allocation->buffer->flags() : nullptr;
  const std::size_t at_to =
      marks_to ? std::size_t(static_cast<const unsigned char*>(to.p) - to.allocation->begin()) : 0;
  const std::size_t at_from =
      marks_from ? std::size_t(static_cast<const unsigned char*>(from.p) - from.allocation->begin()) : 0;
  if (marks_to && marks_from)
    std::memmove(marks_to + at_to, marks_from + at_from, bytes);
  else if (marks_to)
    std::memset(marks_to + at_to, 1, bytes);
  else if (marks_from)
    unwritten |= std::memchr(marks_from + at_from, 0, bytes) != nullptr;
}

}  // namespace

int checked_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int kind, const char* call, Site site) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return refused("wrong direction", site, fmt::format("{} at \1: its kind is {}", call, kind),
                   cudaErrorInvalidMemcpyDirection);
  ProgramMemory& memory = session().memory;
  Side target{to, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, memory.near(to)};
  Side source{from, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice, memory.near(from)};
  if (kind == cudaMemcpyDefault)
    target.device = target.allocation != nullptr, source.device = source.allocation != nullptr;
  if (!to_pitch) to_pitch = width;
  if (!from_pitch) from_pitch = width;
  if (!check_side(target, to_pitch * (height - 1) + width, "destination", call, site) ||
      !check_side(source, from_pitch * (height - 1) + width, "source", call, site))
    return cudaErrorInvalidValue;
  bool unwritten = false;
  for (std::size_t row = 0; row < height; ++row) {
    target.p = static_cast<unsigned char*>(to) + row * to_pitch;
    source.p = static_cast<const unsigned char*>(from) + row * from_pitch;
    move_bytes(target, source, width, unwritten);
  }
  if (unwritten) {
    const ProgramAllocation& a = *source.allocation;
    const std::uint8_t* const marks = a.buffer->flags();
    std::size_t at = std::size_t(static_cast<const unsigned char*>(from) - a.begin());
    while (marks[at]) ++at;
    refused("uninitialised read", site,
            fmt::format("{} at \1 copies {} to the host, of which byte {} has not been written", call, a.name(), at),
            0);
  }
  return cudaSuccess;
}

namespace {

int copy(void* to, const void* from, std::size_t bytes, int kind) {
  return checked_copy(to, 0, from, 0, bytes, 1, kind, "cudaMemcpy", ZELLIGE_SITE());
}
int copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
            std::size_t height, int kind) {
  const Site site = ZELLIGE_SITE();
  if (to_pitch < width || from_pitch < width) return cudaErrorInvalidPitchValue;
  return checked_copy(to, to_pitch, from, from_pitch, width, height, kind, "cudaMemcpy2D", site);
}

int fill(void* p, int value, std::size_t bytes) {
  const Site site = ZELLIGE_SITE();
  if (bytes == 0) return cudaSuccess;
  const Side side{p, true, session().memory.near(p)};
  if (!check_side(side, bytes, "destination", "cudaMemset", site)) return cudaErrorInvalidValue;
  std::memset(p, value, bytes);
  if (std::uint8_t* const marks = side.allocation->buffer->flags())
    std::memset(marks + (static_cast<unsigned char*>(p) - side.allocation->begin()), 1, bytes);
  return cudaSuccess;
}

int last_error(int set) {
  const int before = session().error;
  if (set >= 0) session().error = set;
  return before;
}

void allow_shared(const char* kernel, std::size_t bytes) { session().allowed_shared[kernel] = bytes; }

std::size_t memory(bool free) { return ProgramMemory::capacity - (free ? session().memory.used() : 0); }

int kind_of(const void* p) {
  const ProgramMemory& memory = session().memory;
  const ProgramAllocation* const a = memory.owns(p) ? memory.near(p) : nullptr;
  if (!a || a->freed || !a->contains(p)) return 0;
  return a->kind == MemoryKind::managed ? 2 : 1;
}

}  // namespace

void add_memory_calls(Host& all) {
  all.allocate = allocate;
  all.release = release;
  all.copy = copy;
  all.copy_2d = copy_2d;
  all.fill = fill;
  all.error = last_error;
  all.allow_shared = allow_shared;
  all.memory = memory;
  all.kind_of = kind_of;
}

}  // namespace zellige::cuda
