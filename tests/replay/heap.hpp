// Counts the program's heap allocations: a measure of work that needs no clock and no hardware counter.
//
//   const std::uint64_t before = heap_blocks();
//   plan(...);
//   heap_blocks() - before
//
// heap.cpp replaces the program's operator new. docs/explanation/testing.md says how the count compares with instructions.
#pragma once
#include <cstdint>

namespace zellige::replay {

std::uint64_t heap_blocks();

}  // namespace zellige::replay
