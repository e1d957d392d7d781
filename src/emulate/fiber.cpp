#include "emulate/fiber.hpp"

#include <sys/mman.h>

#include <new>

#include "graph/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace zellige::emulate {

static_assert(sizeof(Fiber) <= 1024, "a Fiber has its place at the top of its stack's slot");

Stacks::~Stacks() { release(); }

void Stacks::release() {
  if (!map_) return;
  for (unsigned i = 0; i < slots_; ++i) fiber(i).~Fiber();
  munmap(map_, map_bytes_);
  map_ = nullptr;
  slots_ = 0;
}

void Stacks::reserve(unsigned threads) {
  if (threads <= slots_) return;
  release();
  map_bytes_ = (threads + 1) * stack_bytes;
  map_ = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map_ == MAP_FAILED) {
    map_ = nullptr;
    fail("emulator: no room for the stacks of {} threads", threads);
  }
  base_ = (reinterpret_cast<std::uintptr_t>(map_) + stack_bytes - 1) / stack_bytes * stack_bytes;
  slots_ = threads;
  for (unsigned i = 0; i < slots_; ++i) {
    mprotect(reinterpret_cast<void*>(low(i)), 4096, PROT_NONE);
    new (&thread_of_stack(low(i))) Fiber;
  }
}

void* Stacks::fresh_context(unsigned i, void (*start)(Transfer)) const {
  const std::uintptr_t top = reinterpret_cast<std::uintptr_t>(&fiber(i)) / 64 * 64;
  const std::uintptr_t bottom = low(i) + 4096;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(reinterpret_cast<void*>(bottom), top - bottom);
#endif
  return boost::context::detail::make_fcontext(reinterpret_cast<void*>(top), top - bottom, start);
}

}  // namespace zellige::emulate
