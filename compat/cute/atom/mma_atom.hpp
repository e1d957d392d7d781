// CuTe's header for MMA_Atom, TiledMMA and ThrMMA, which partition matmuls over threads.
#pragma once
#include <cute/arch/config.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/mma_call.hpp>
#include <zellige/atom/write.hpp>

namespace zellige {

/// MMA_Op<MMA_Traits<Op, ...>>::type is Op.
template <class Traits>
struct MMA_Op {};
template <class Op, class... Args>
struct MMA_Op<MMA_Traits<Op, Args...>> {
  using type = Op;
};

}  // namespace zellige

// The headers of the operations that an MMA_Atom may name.
#include <cute/arch/mma_sm90_gmma.hpp>

// The names of their thread-value layouts.
#include <cute/atom/mma_traits_sm70.hpp>
#include <cute/atom/mma_traits_sm80.hpp>
