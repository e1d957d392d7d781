// CUDA's cooperative groups: the block, tiles of a warp, the lanes that run together, and the grid of a cooperative
// launch.
#pragma once
#include <type_traits>

#include "zellige/cuda/atomics.hpp"
#include "zellige/cuda/pipeline.hpp"
#include "zellige/emulate/async.hpp"

namespace zellige::cuda {

ZELLIGE_DEVICE unsigned volume(const uint3& v) { return v.x * v.y * v.z; }

/// The lanes `mask` of a warp, in order of rank.
class LaneGroup {
 public:
  ZELLIGE_DEVICE explicit LaneGroup(unsigned mask) : mask_(mask) {}
  ZELLIGE_DEVICE void sync() const { __syncwarp(mask_); }
  ZELLIGE_DEVICE unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  ZELLIGE_DEVICE unsigned num_threads() const { return size(); }
  ZELLIGE_DEVICE unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << lane_id()) - 1)));
  }
  ZELLIGE_DEVICE unsigned mask() const { return mask_; }

  template <class T>
  ZELLIGE_DEVICE T shfl(T value, int rank) const {
    return __shfl_sync(mask_, value, lane_of(rank));
  }
  template <class T>
  ZELLIGE_DEVICE T shfl_up(T value, unsigned delta) const {
    const int from = static_cast<int>(thread_rank()) - static_cast<int>(delta);
    return __shfl_sync(mask_, value, from < 0 ? lane_id() : lane_of(from));
  }
  template <class T>
  ZELLIGE_DEVICE T shfl_down(T value, unsigned delta) const {
    const unsigned from = thread_rank() + delta;
    return __shfl_sync(mask_, value, from >= size() ? lane_id() : lane_of(static_cast<int>(from)));
  }
  template <class T>
  ZELLIGE_DEVICE T shfl_xor(T value, unsigned bits) const {
    const unsigned from = thread_rank() ^ bits;
    return __shfl_sync(mask_, value, from >= size() ? lane_id() : lane_of(static_cast<int>(from)));
  }
  ZELLIGE_DEVICE int any(int predicate) const { return __any_sync(mask_, predicate); }
  ZELLIGE_DEVICE int all(int predicate) const { return __all_sync(mask_, predicate); }
  ZELLIGE_DEVICE unsigned ballot(int predicate) const { return ranks(__ballot_sync(mask_, predicate)); }
  template <class T>
  ZELLIGE_DEVICE unsigned match_any(T value) const {
    return ranks(__match_any_sync(mask_, value));
  }
  template <class T>
  ZELLIGE_DEVICE unsigned match_all(T value, int& all) const {
    return ranks(__match_all_sync(mask_, value, &all));
  }

 private:
  // Returns the lane of a rank.
  ZELLIGE_DEVICE int lane_of(int rank) const {
    unsigned left = mask_;
    for (; rank > 0 && (left & (left - 1)); --rank) left &= left - 1;
    return __builtin_ctz(left);
  }
  // Returns a mask of lanes as one of ranks.
  ZELLIGE_DEVICE unsigned ranks(unsigned lanes) const {
    unsigned result = 0, rank = 0;
    for (unsigned left = mask_; left; left &= left - 1, ++rank) result |= (lanes >> __builtin_ctz(left) & 1) << rank;
    return result;
  }

  unsigned mask_;
};

}  // namespace zellige::cuda

namespace cooperative_groups {

/// The threads of a block.
class thread_block {
 public:
  ZELLIGE_DEVICE static void sync() { __syncthreads(); }
  ZELLIGE_DEVICE static unsigned thread_rank() { return ::zellige::emulate::self().index; }
  ZELLIGE_DEVICE static unsigned size() { return ::zellige::cuda::volume(blockDim); }
  ZELLIGE_DEVICE static unsigned num_threads() { return size(); }
  ZELLIGE_DEVICE static dim3 group_index() { return blockIdx; }
  ZELLIGE_DEVICE static dim3 thread_index() { return threadIdx; }
  ZELLIGE_DEVICE static dim3 group_dim() { return blockDim; }
  ZELLIGE_DEVICE static dim3 dim_threads() { return blockDim; }
};
ZELLIGE_DEVICE thread_block this_thread_block() { return {}; }

/// The threads of a grid that was launched cooperatively.
class grid_group {
 public:
  ZELLIGE_DEVICE static bool is_valid() { return true; }
  ZELLIGE_DEVICE static void sync() { ::zellige::cuda::host->grid_sync(); }
  ZELLIGE_DEVICE static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  ZELLIGE_DEVICE static unsigned long long num_blocks() { return ::zellige::cuda::volume(gridDim); }
  ZELLIGE_DEVICE static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  ZELLIGE_DEVICE static unsigned long long size() { return num_blocks() * thread_block::size(); }
  ZELLIGE_DEVICE static unsigned long long num_threads() { return size(); }
  ZELLIGE_DEVICE static dim3 group_dim() { return gridDim; }
  ZELLIGE_DEVICE static dim3 dim_blocks() { return gridDim; }
  ZELLIGE_DEVICE static dim3 block_index() { return blockIdx; }
};
ZELLIGE_DEVICE grid_group this_grid() { return {}; }

/// The threads of a thread block cluster.
class cluster_group {
 public:
  ZELLIGE_DEVICE static void sync() {
    barrier_arrive();
    barrier_wait();
  }
  ZELLIGE_DEVICE static void barrier_arrive() {
    ::zellige::emulate::Thread& t = ::zellige::emulate::self();
    t.engine->async->cluster_arrive(t, true);
  }
  ZELLIGE_DEVICE static void barrier_wait() {
    ::zellige::emulate::Thread& t = ::zellige::emulate::self();
    t.engine->async->cluster_wait(t);
  }
  ZELLIGE_DEVICE static unsigned block_rank() { return ::zellige::emulate::self().cluster_rank; }
  ZELLIGE_DEVICE static dim3 dim_blocks() { return ::zellige::emulate::self().cluster_size; }
  ZELLIGE_DEVICE static unsigned num_blocks() {
    return ::zellige::cuda::volume(::zellige::emulate::self().cluster_size);
  }
  ZELLIGE_DEVICE static dim3 block_index() {
    const dim3 n = dim_blocks();
    return {blockIdx.x % n.x, blockIdx.y % n.y, blockIdx.z % n.z};
  }
  ZELLIGE_DEVICE static unsigned thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  ZELLIGE_DEVICE static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  ZELLIGE_DEVICE static unsigned size() { return num_threads(); }
  /// Returns the address of the same variable in another block's shared memory.
  template <class T>
  ZELLIGE_DEVICE static T* map_shared_rank(T* p, int rank) {
    return static_cast<T*>(
        ::zellige::cuda::host->map_shared(const_cast<std::remove_cv_t<T>*>(p), static_cast<unsigned>(rank)));
  }
  ZELLIGE_DEVICE static unsigned query_shared_rank(const void* p) {
    const unsigned rank = ::zellige::cuda::host->shared_address(p) >> 24;
    return rank ? rank - 1 : block_rank();
  }
};
ZELLIGE_DEVICE cluster_group this_cluster() { return {}; }

/// The lanes of a warp that run together.
class coalesced_group : public ::zellige::cuda::LaneGroup {
 public:
  using LaneGroup::LaneGroup;
};
ZELLIGE_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/// A tile of N adjacent lanes of a warp.
template <unsigned N, class Parent = void>
class thread_block_tile : public ::zellige::cuda::LaneGroup {
 public:
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  ZELLIGE_DEVICE thread_block_tile() : thread_block_tile(0) {}
  template <class Other>
  ZELLIGE_DEVICE thread_block_tile(const thread_block_tile<N, Other>&) : thread_block_tile(0) {}
  ZELLIGE_DEVICE explicit thread_block_tile(int)
      : LaneGroup((N == 32 ? ~0u : (1u << (N % 32)) - 1) << (::zellige::cuda::lane_id() & ~static_cast<int>(N - 1))) {}
  ZELLIGE_DEVICE static constexpr unsigned size() { return N; }
  ZELLIGE_DEVICE static constexpr unsigned num_threads() { return N; }
  ZELLIGE_DEVICE unsigned meta_group_rank() const { return thread_block::thread_rank() % parent() / N; }
  ZELLIGE_DEVICE unsigned meta_group_size() const { return (parent() + N - 1) / N; }

 private:
  /// Returns the number of threads of the group that was partitioned: a tile, or the block.
  ZELLIGE_DEVICE static unsigned parent() {
    if constexpr (std::is_base_of_v<::zellige::cuda::LaneGroup, Parent>)
      return Parent::size();
    else
      return thread_block::size();
  }
};
template <unsigned N, class Group>
ZELLIGE_DEVICE thread_block_tile<N, Group> tiled_partition(const Group&) {
  return {};
}

/// A group whose kind is known at run time: a block, or lanes of a warp.
class thread_group {
 public:
  ZELLIGE_DEVICE thread_group(const thread_block&) {}
  ZELLIGE_DEVICE thread_group(const ::zellige::cuda::LaneGroup& lanes) : lanes_(lanes), of_block_(false) {}
  ZELLIGE_DEVICE void sync() const {
    if (of_block_)
      thread_block::sync();
    else
      lanes_.sync();
  }
  ZELLIGE_DEVICE unsigned size() const { return of_block_ ? thread_block::size() : lanes_.size(); }
  ZELLIGE_DEVICE unsigned num_threads() const { return size(); }
  ZELLIGE_DEVICE unsigned thread_rank() const { return of_block_ ? thread_block::thread_rank() : lanes_.thread_rank(); }
  ZELLIGE_DEVICE static bool is_valid() { return true; }
  ZELLIGE_DEVICE const ::zellige::cuda::LaneGroup& lanes() const { return lanes_; }

 private:
  ::zellige::cuda::LaneGroup lanes_{0};
  bool of_block_ = true;
};
/// Returns the tile of `threads` adjacent lanes that the thread is in: a power of two up to 32.
ZELLIGE_DEVICE thread_group tiled_partition(const thread_group&, unsigned threads) {
  const unsigned first = static_cast<unsigned>(::zellige::cuda::lane_id()) & ~(threads - 1);
  return ::zellige::cuda::LaneGroup((threads == 32 ? ~0u : (1u << threads) - 1) << first);
}

/// Returns the lanes of a group that give the same value.
template <class Group, class T>
ZELLIGE_DEVICE coalesced_group labeled_partition(const Group& group, T label) {
  return coalesced_group(__match_any_sync(group.mask(), label));
}
template <class Group>
ZELLIGE_DEVICE coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned set = __ballot_sync(group.mask(), predicate);
  return coalesced_group(predicate ? set : group.mask() & ~set);
}

template <class Group>
ZELLIGE_DEVICE void sync(const Group& group) {
  group.sync();
}
ZELLIGE_DEVICE void sync(const thread_group& group) { group.sync(); }

/// Copies bytes from global to shared memory asynchronously, by the threads of a group.
template <class Group>
ZELLIGE_DEVICE void memcpy_async(const Group& group, void* to, const void* from, std::size_t bytes) {
  ::zellige::cuda::copy_by_group(to, from, bytes, group.thread_rank(), group.size());
  ::zellige::cuda::commit_copies();
}
/// Waits for the group's copies but the newest N of each thread.
template <unsigned N, class Group>
ZELLIGE_DEVICE void wait_prior(const Group& group) {
  ::zellige::cuda::wait_for_copies(N);
  group.sync();
}
template <class Group>
ZELLIGE_DEVICE void wait(const Group& group) {
  wait_prior<0>(group);
}

/// Calls a function in the first thread of a group; _broadcast: gives its result to all of them.
template <class Group, class F, class... A>
ZELLIGE_DEVICE void invoke_one(const Group& group, F&& f, A&&... arguments) {
  if (group.thread_rank() == 0) f(std::forward<A>(arguments)...);
}
template <class Group, class F, class... A>
ZELLIGE_DEVICE auto invoke_one_broadcast(const Group& group, F&& f, A&&... arguments) {
  decltype(f(std::forward<A>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = f(std::forward<A>(arguments)...);
  return group.shfl(result, 0);
}

template <class T>
struct plus {
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T>
struct less {
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const { return a & b; }
};
template <class T>
struct bit_or {
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const { return a | b; }
};
template <class T>
struct bit_xor {
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const { return a ^ b; }
};

/// Returns the reduction of the group's values, to each of its threads.
template <class Group, class T, class F>
ZELLIGE_DEVICE T reduce(const Group& group, T value, F combine) {
  return ::zellige::cuda::reduce_lanes(group.mask(), value, combine, "cooperative_groups::reduce");
}

/// Returns the reduction of the values of the group's threads up to this one, and of those before it (T() in the first).
template <class Group, class T, class F = plus<T>>
ZELLIGE_DEVICE T inclusive_scan(const Group& group, T value, F combine = {}) {
  return ::zellige::cuda::converge(
      group.mask(), value,
      [combine](std::uint32_t lanes, const T* all, int lane) {
        int first = __builtin_ctz(lanes);
        T sum = all[first];
        for (int other = first + 1; other <= lane; ++other)
          if (lanes >> other & 1) sum = combine(sum, all[other]);
        return sum;
      },
      "cooperative_groups::inclusive_scan");
}
template <class Group, class T, class F = plus<T>>
ZELLIGE_DEVICE T exclusive_scan(const Group& group, T value, F combine = {}) {
  return ::zellige::cuda::converge(
      group.mask(), value,
      [combine](std::uint32_t lanes, const T* all, int lane) {
        int first = __builtin_ctz(lanes);
        if (lane == first) return T();
        T sum = all[first];
        for (int other = first + 1; other < lane; ++other)
          if (lanes >> other & 1) sum = combine(sum, all[other]);
        return sum;
      },
      "cooperative_groups::exclusive_scan");
}

}  // namespace cooperative_groups
