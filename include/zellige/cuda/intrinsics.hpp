// What a kernel's thread knows of itself, barriers, fences and the collectives of a warp's lanes.
#pragma once
#include "zellige/cuda/types.hpp"
#include "zellige/emulate/keywords.hpp"

#define ZELLIGE_DEVICE __attribute__((always_inline)) inline

// A declaration with __shared__ is written anew by `zellige emulate`; one that it does not see must not compile.
#undef __shared__
#define __shared__ zellige_emulate_needs_shared_to_be_spelled_in_a_declaration
#undef __restrict__
#define __align__(n) __attribute__((aligned(n)))
#define __managed__
#define __maxnreg__(...)
#undef __cluster_dims__
#define __cluster_dims__(...)

inline constexpr int warpSize = 32;

ZELLIGE_DEVICE void __syncthreads() {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->bar_sync(t, 0, 0);
}
/// Barrier number `id` of all threads of the block, or of `threads` of them.
ZELLIGE_DEVICE void __barrier_sync(unsigned id) {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->bar_sync(t, static_cast<int>(id), 0);
}
ZELLIGE_DEVICE void __barrier_sync_count(unsigned id, unsigned threads) {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->bar_sync(t, static_cast<int>(id), static_cast<int>(threads));
}
ZELLIGE_DEVICE int __syncthreads_count(int predicate) { return ::zellige::cuda::host->vote_block(predicate, 0); }
ZELLIGE_DEVICE int __syncthreads_and(int predicate) { return ::zellige::cuda::host->vote_block(predicate, 1); }
ZELLIGE_DEVICE int __syncthreads_or(int predicate) { return ::zellige::cuda::host->vote_block(predicate, 2); }
ZELLIGE_DEVICE void __syncwarp(unsigned mask = ~0u) {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->sync_warp(t, mask);
}
ZELLIGE_DEVICE void __threadfence() { ::zellige::cuda::host->fence(false); }
ZELLIGE_DEVICE void __threadfence_system() { ::zellige::cuda::host->fence(false); }
ZELLIGE_DEVICE void __threadfence_block() { ::zellige::cuda::host->fence(true); }
ZELLIGE_DEVICE unsigned __activemask() { return ::zellige::cuda::host->active(); }
ZELLIGE_DEVICE void __trap() { ::zellige::cuda::host->trap(); }
ZELLIGE_DEVICE void __brkpt() {}
ZELLIGE_DEVICE void __nanosleep(unsigned) {}
ZELLIGE_DEVICE long long clock64() { return static_cast<long long>(::zellige::cuda::host->clock()); }
ZELLIGE_DEVICE unsigned long long __globaltimer() { return ::zellige::cuda::host->clock(); }

namespace zellige::cuda {

/// Executes a collective of the lanes `mask`. `mine`: this lane's operand. compute(lanes, operands, lane) is the result
/// of a lane, where `lanes` is the mask of those that take part.
template <class In, class F>
ZELLIGE_DEVICE auto converge(unsigned mask, const In& mine, F compute, const char* what) {
  using Out = decltype(compute(0u, static_cast<const In*>(nullptr), 0));
  Out out{};
  const LanesCompute all = [](void* with, std::uint32_t lanes, const void* const* in, void* const* outs) {
    alignas(In) unsigned char bytes[32 * sizeof(In)];
    In* const operands = reinterpret_cast<In*>(bytes);
    for (int lane = 0; lane < 32; ++lane)
      if (lanes >> lane & 1) __builtin_memcpy(static_cast<void*>(&operands[lane]), in[lane], sizeof(In));
    for (int lane = 0; lane < 32; ++lane) {
      if (!(lanes >> lane & 1)) continue;
      const Out result = (*static_cast<F*>(with))(lanes, operands, lane);
      __builtin_memcpy(outs[lane], static_cast<const void*>(&result), sizeof(Out));
    }
  };
  host->converge(mask, &mine, &out, all, &compute, what);
  return out;
}

/// A lane's operand of a shuffle: its value, and the lane from which it reads.
template <class T>
struct ShuffleOperand {
  T value;
  int source;
};
/// A lane's result of a shuffle. `absent`: the lane that it reads takes no part.
template <class T>
struct ShuffleResult {
  T value;
  bool absent;
};

/// Returns the value of the lane `source`, from 0 to 31.
template <class T>
ZELLIGE_DEVICE T shuffle(unsigned mask, const T& value, int source, const char* what, const char* absent) {
  const auto result = converge(
      mask, ShuffleOperand<T>{value, source},
      [](std::uint32_t lanes, const ShuffleOperand<T>* all, int lane) {
        const int from = all[lane].source;
        const bool there = lanes >> from & 1;
        return ShuffleResult<T>{all[there ? from : lane].value, !there};
      },
      what);
  if (result.absent) host->fault(absent, true);
  return result.value;
}
/// Returns the running thread's lane.
ZELLIGE_DEVICE int lane_id() { return static_cast<int>(::zellige::emulate::self().index % 32); }

}  // namespace zellige::cuda

template <class T>
ZELLIGE_DEVICE T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int lane = ::zellige::cuda::lane_id();
  return ::zellige::cuda::shuffle(mask, value, (lane & ~(width - 1)) | (source & (width - 1)), "__shfl_sync",
                                  "__shfl_sync reads a lane that the mask leaves out, or that has returned");
}
template <class T>
ZELLIGE_DEVICE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = ::zellige::cuda::lane_id(), from = lane - static_cast<int>(delta);
  return ::zellige::cuda::shuffle(mask, value, from < (lane & ~(width - 1)) ? lane : from, "__shfl_up_sync",
                                  "__shfl_up_sync reads a lane that the mask leaves out, or that has returned");
}
template <class T>
ZELLIGE_DEVICE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = ::zellige::cuda::lane_id(), from = lane + static_cast<int>(delta);
  return ::zellige::cuda::shuffle(mask, value, from > (lane | (width - 1)) ? lane : from, "__shfl_down_sync",
                                  "__shfl_down_sync reads a lane that the mask leaves out, or that has returned");
}
template <class T>
ZELLIGE_DEVICE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  const int lane = ::zellige::cuda::lane_id(), from = lane ^ lanes;
  return ::zellige::cuda::shuffle(mask, value, from > (lane | (width - 1)) ? lane : from, "__shfl_xor_sync",
                                  "__shfl_xor_sync reads a lane that the mask leaves out, or that has returned");
}

namespace zellige::cuda {

/// Returns the mask of the lanes whose operand is not zero.
inline unsigned ballot(std::uint32_t lanes, const int* all) {
  unsigned set = 0;
  for (int lane = 0; lane < 32; ++lane)
    if ((lanes >> lane & 1) && all[lane]) set |= 1u << lane;
  return set;
}
/// Returns the reduction of the lanes' operands, in the order of lanes.
template <class T, class F>
ZELLIGE_DEVICE T reduce_lanes(unsigned mask, const T& value, F combine, const char* what) {
  return converge(
      mask, value,
      [combine](std::uint32_t lanes, const T* all, int) {
        int first = 0;
        while (!(lanes >> first & 1)) ++first;
        T sum = all[first];
        for (int lane = first + 1; lane < 32; ++lane)
          if (lanes >> lane & 1) sum = combine(sum, all[lane]);
        return sum;
      },
      what);
}

}  // namespace zellige::cuda

ZELLIGE_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) {
  return ::zellige::cuda::converge(
      mask, predicate, [](std::uint32_t lanes, const int* all, int) { return ::zellige::cuda::ballot(lanes, all); },
      "__ballot_sync");
}
ZELLIGE_DEVICE int __any_sync(unsigned mask, int predicate) {
  return ::zellige::cuda::converge(
      mask, predicate,
      [](std::uint32_t lanes, const int* all, int) { return int(::zellige::cuda::ballot(lanes, all) != 0); },
      "__any_sync");
}
ZELLIGE_DEVICE int __all_sync(unsigned mask, int predicate) {
  return ::zellige::cuda::converge(
      mask, predicate,
      [](std::uint32_t lanes, const int* all, int) { return int(::zellige::cuda::ballot(lanes, all) == lanes); },
      "__all_sync");
}
template <class T>
ZELLIGE_DEVICE unsigned __match_any_sync(unsigned mask, T value) {
  return ::zellige::cuda::converge(
      mask, value,
      [](std::uint32_t lanes, const T* all, int lane) {
        unsigned same = 0;
        for (int other = 0; other < 32; ++other)
          if ((lanes >> other & 1) && all[other] == all[lane]) same |= 1u << other;
        return same;
      },
      "__match_any_sync");
}
template <class T>
ZELLIGE_DEVICE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const unsigned same = ::zellige::cuda::converge(
      mask, value,
      [](std::uint32_t lanes, const T* all, int lane) {
        for (int other = 0; other < 32; ++other)
          if ((lanes >> other & 1) && !(all[other] == all[lane])) return 0u;
        return unsigned(lanes);
      },
      "__match_all_sync");
  *predicate = same != 0;
  return same;
}

#define ZELLIGE_REDUCE(NAME, EXPRESSION)                                          \
  template <class T>                                                              \
  ZELLIGE_DEVICE T NAME(unsigned mask, T value) {                                 \
    return ::zellige::cuda::reduce_lanes(                                         \
        mask, value, [](T a, T b) { return static_cast<T>(EXPRESSION); }, #NAME); \
  }
ZELLIGE_REDUCE(__reduce_add_sync, a + b)
ZELLIGE_REDUCE(__reduce_min_sync, b < a ? b : a)
ZELLIGE_REDUCE(__reduce_max_sync, a < b ? b : a)
ZELLIGE_REDUCE(__reduce_and_sync, a& b)
ZELLIGE_REDUCE(__reduce_or_sync, a | b)
ZELLIGE_REDUCE(__reduce_xor_sync, a ^ b)
#undef ZELLIGE_REDUCE

// Called by the macro assert of <cassert>.
extern "C" __attribute__((used, noreturn, no_sanitize("thread"))) inline void __assert_fail(
    const char* condition, const char* file, unsigned line, const char* function) noexcept {
  ::zellige::cuda::host->assert_failed(condition, function);
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
  __builtin_abort();
}
