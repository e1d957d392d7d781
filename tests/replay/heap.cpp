#include "heap.hpp"

#include <cstdlib>
#include <new>

namespace {
std::uint64_t taken = 0;
}

void* operator new(std::size_t bytes) {
  ++taken;
  if (void* block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace zellige::replay {

std::uint64_t heap_blocks() { return taken; }

}  // namespace zellige::replay
