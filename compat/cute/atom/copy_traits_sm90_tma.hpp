// Copies by TMA and bulk copies: make_tma_atom, make_tma_copy, tma_partition, and what runs of them.
#pragma once
#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/atom/copy_atom.hpp>
#include <zellige/atom/tma_copy.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/bulk_copy_call.hpp>
#include <zellige/atom/tma_call.hpp>
#endif
