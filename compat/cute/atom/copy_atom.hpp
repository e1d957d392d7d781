// CuTe's header for Copy_Atom, TiledCopy and ThrCopy, which partition copies over threads.
#pragma once
#include <cute/arch/config.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/write.hpp>

#if defined(__CUDACC__)
#include <zellige/atom/issue_copy.hpp>
#endif

#if defined(__CUDACC__)
#define CUTE_COPY_ATOM_TMA_SM90_ENABLED
#endif

namespace zellige {

/// CPY_Op<Copy_Traits<Op, ...>>::type is Op.
template <class Traits>
struct CPY_Op {};
template <class Op, class... Args>
struct CPY_Op<Copy_Traits<Op, Args...>> {
  using type = Op;
};

}  // namespace zellige

// The headers of the operations that a Copy_Atom may name.
#include <cute/arch/copy_sm90.hpp>
#include <cute/atom/copy_traits_sm90_tma.hpp>
