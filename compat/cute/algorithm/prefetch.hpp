// CuTe's header for prefetch: of a tensor into the L2, or with the instruction of a TMA copy.
#pragma once
#include <cute/atom/copy_atom.hpp>
#include <cute/tensor_impl.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/prefetch_call.hpp>
#endif
