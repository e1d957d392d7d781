// MMA_Atom, TiledMMA and the parts of each thread.
#pragma once
#include <cute/arch/config.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/mma_call.hpp>
#include <zellige/atom/write.hpp>

namespace zellige {

/// The operation of MMA_Traits.
template <class Traits>
struct MMA_Op {};
template <class Op, class... Args>
struct MMA_Op<MMA_Traits<Op, Args...>> {
  using type = Op;
};

}  // namespace zellige

// The operations of an MMA_Atom.
#include <cute/arch/mma_sm90_gmma.hpp>
