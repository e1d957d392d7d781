// prefetch, by a copy's instruction too.
#pragma once
#include <cute/atom/copy_atom.hpp>
#include <cute/tensor_impl.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/prefetch_call.hpp>
#endif
