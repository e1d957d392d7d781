#include "cuda/program_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "graph/error.hpp"

namespace zellige::cuda {

namespace {

constexpr std::size_t min_gap = 1 << 20;

std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

ProgramMemory::ProgramMemory() {
  void* const map =
      mmap(nullptr, range_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) fail("emulate: no room for {} bytes of addresses of device memory", range_bytes);
  range_ = static_cast<unsigned char*>(map);
  next_ = range_ + min_gap;
}

ProgramMemory::~ProgramMemory() { munmap(range_, range_bytes); }

ProgramAllocation* ProgramMemory::allocate(std::size_t bytes, MemoryKind kind, const std::string& name) {
  const std::size_t gap = std::max(min_gap, rounded(bytes));
  if (bytes > capacity - std::min(used_, capacity) || next_ + rounded(bytes) + gap > range_ + range_bytes)
    return nullptr;
  auto one = std::make_unique<ProgramAllocation>();
  one->buffer = std::make_unique<emulate::Buffer>(name, bytes, next_);
  one->kind = kind;
  if (kind == MemoryKind::managed) {
    // The host writes it in ways that nothing sees. New pages are zeros on a GPU, too, and programs count on it.
    std::memset(next_, 0, bytes);
    one->buffer->mark_initialised();
  } else
    one->buffer->poison();
  next_ += rounded(bytes) + gap;
  used_ += bytes;
  ProgramAllocation* const result = one.get();
  all_[reinterpret_cast<std::uintptr_t>(result->begin())] = std::move(one);
  return result;
}

void ProgramMemory::adopt(const Declaration& d) {
  auto one = std::make_unique<ProgramAllocation>();
  auto* const at = static_cast<unsigned char*>(d.address);
  const std::string initial(at, at + d.bytes);
  one->buffer = std::make_unique<emulate::Buffer>(d.name, d.bytes, at);  // which poisons the bytes
  std::copy(initial.begin(), initial.end(), at);
  one->buffer->mark_initialised();
  one->kind = d.kind;
  all_[reinterpret_cast<std::uintptr_t>(d.address)] = std::move(one);
}

bool ProgramMemory::release(const void* p) {
  const auto found = all_.find(reinterpret_cast<std::uintptr_t>(p));
  if (found == all_.end() || found->second->freed || !owns(p)) return false;
  ProgramAllocation& a = *found->second;
  a.freed = true;
  used_ -= a.bytes();
  madvise(a.begin(), rounded(a.bytes()), MADV_DONTNEED);
  return true;
}

ProgramAllocation* ProgramMemory::near(const void* p) const {
  if (all_.empty()) return nullptr;
  const auto next = all_.upper_bound(reinterpret_cast<std::uintptr_t>(p));
  ProgramAllocation* const before = next == all_.begin() ? nullptr : std::prev(next)->second.get();
  if (before && before->contains(p)) return before;
  if (!owns(p)) return nullptr;
  ProgramAllocation* const after = next == all_.end() ? nullptr : next->second.get();
  if (!before || !owns(before->begin())) return after && owns(after->begin()) ? after : nullptr;
  const auto* const at = static_cast<const unsigned char*>(p);
  // An access shortly before an allocation is one with a negative index of it.
  if (after && owns(after->begin()) && std::size_t(after->begin() - at) < min_gap / 4) return after;
  return before;
}

}  // namespace zellige::cuda
