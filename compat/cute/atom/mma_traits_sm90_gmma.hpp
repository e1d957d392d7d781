// Warpgroup matrix instructions, their operands in shared memory, and what waits for them.
#pragma once
#include <cute/atom/mma_atom.hpp>
#include <zellige/atom/gmma_descriptor.hpp>
#include <zellige/atom/gmma_names.hpp>
#include <zellige/atom/gmma_selector.hpp>

#if defined(__CUDACC__)
#include <zellige/atom/gmma_call.hpp>
#endif
