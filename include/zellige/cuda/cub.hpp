// The part of CUB that kernels use most: reductions and scans of a block or a warp, and the device's reductions, scans and sorts,
// which are done by the host on copies. A block's functions use its temporary storage as CUB's do: between two uses of it the
// program must synchronize.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "zellige/cuda/cooperative_groups.hpp"

namespace cub {

struct Added {
  template <class T>
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Larger {
  template <class T>
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Smaller {
  template <class T>
  ZELLIGE_DEVICE T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
using Sum = Added;
using Max = Larger;
using Min = Smaller;
struct NullType {};
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE
};
template <class K, class V>
struct KeyValuePair {
  K key;
  V value;
};

/// What the threads of a block give each other.
template <class T, int N>
struct BlockStorage {
  T all[N];
};

/// A reduction over the threads of a block; thread 0 gets the result.
template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
 public:
  using TempStorage = BlockStorage<T, X * Y * Z>;
  ZELLIGE_DEVICE explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  template <class F>
  ZELLIGE_DEVICE T Reduce(T value, F combine, int valid = X * Y * Z) {
    const int rank = static_cast<int>(cooperative_groups::thread_block::thread_rank());
    storage_.all[rank] = value;
    __syncthreads();
    if (rank == 0)
      for (int i = 1; i < valid; ++i) value = combine(value, storage_.all[i]);
    return value;
  }
  template <int N, class F>
  ZELLIGE_DEVICE T Reduce(T (&values)[N], F combine) {
    T own = values[0];
    for (int i = 1; i < N; ++i) own = combine(own, values[i]);
    return Reduce(own, combine);
  }
  ZELLIGE_DEVICE T Sum(T value) { return Reduce(value, ::cub::Sum()); }
  ZELLIGE_DEVICE T Sum(T value, int valid) { return Reduce(value, ::cub::Sum(), valid); }
  template <int N>
  ZELLIGE_DEVICE T Sum(T (&values)[N]) {
    return Reduce(values, ::cub::Sum());
  }

 private:
  TempStorage& storage_;
};

/// Scans over the threads of a block.
template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
class BlockScan {
 public:
  using TempStorage = BlockStorage<T, X * Y * Z>;
  ZELLIGE_DEVICE explicit BlockScan(TempStorage& storage) : storage_(storage) {}
  template <class F>
  ZELLIGE_DEVICE void InclusiveScan(T in, T& out, F combine) {
    T total;
    InclusiveScan(in, out, combine, total);
  }
  template <class F>
  ZELLIGE_DEVICE void InclusiveScan(T in, T& out, F combine, T& total) {
    const int rank = share(in);
    T sum = storage_.all[0];
    for (int i = 1; i <= rank; ++i) sum = combine(sum, storage_.all[i]);
    out = sum;
    for (int i = rank + 1; i < X * Y * Z; ++i) sum = combine(sum, storage_.all[i]);
    total = sum;
  }
  template <class F>
  ZELLIGE_DEVICE void ExclusiveScan(T in, T& out, T first, F combine) {
    T total;
    ExclusiveScan(in, out, first, combine, total);
  }
  template <class F>
  ZELLIGE_DEVICE void ExclusiveScan(T in, T& out, T first, F combine, T& total) {
    const int rank = share(in);
    T sum = first;
    for (int i = 0; i < rank; ++i) sum = combine(sum, storage_.all[i]);
    out = sum;
    sum = storage_.all[0];
    for (int i = 1; i < X * Y * Z; ++i) sum = combine(sum, storage_.all[i]);
    total = sum;
  }
  ZELLIGE_DEVICE void InclusiveSum(T in, T& out) { InclusiveScan(in, out, ::cub::Sum()); }
  ZELLIGE_DEVICE void InclusiveSum(T in, T& out, T& total) { InclusiveScan(in, out, ::cub::Sum(), total); }
  ZELLIGE_DEVICE void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), ::cub::Sum()); }
  ZELLIGE_DEVICE void ExclusiveSum(T in, T& out, T& total) { ExclusiveScan(in, out, T(), ::cub::Sum(), total); }
  template <int N>
  ZELLIGE_DEVICE void InclusiveSum(T (&in)[N], T (&out)[N]) {
    scan_items(in, out, true);
  }
  template <int N>
  ZELLIGE_DEVICE void ExclusiveSum(T (&in)[N], T (&out)[N]) {
    scan_items(in, out, false);
  }
  template <int N>
  ZELLIGE_DEVICE void ExclusiveSum(T (&in)[N], T (&out)[N], T& total) {
    total = scan_items(in, out, false);
  }

 private:
  ZELLIGE_DEVICE int share(const T& in) {
    const int rank = static_cast<int>(cooperative_groups::thread_block::thread_rank());
    storage_.all[rank] = in;
    __syncthreads();
    return rank;
  }
  template <int N>
  ZELLIGE_DEVICE T scan_items(T (&in)[N], T (&out)[N], bool inclusive) {
    T own = in[0], before, total;
    for (int i = 1; i < N; ++i) own = own + in[i];
    ExclusiveScan(own, before, T(), ::cub::Sum(), total);
    for (int i = 0; i < N; ++i) {
      const T value = in[i];
      out[i] = inclusive ? before + value : before;
      before = before + value;
    }
    return total;
  }
  TempStorage& storage_;
};

/// The lanes of this thread's warp, or of its part of `Width` lanes, that run together.
template <int Width>
ZELLIGE_DEVICE unsigned warp_mask() {
  return (Width == 32 ? ~0u : ((1u << Width % 32) - 1) << (::zellige::cuda::lane_id() & ~(Width - 1))) & __activemask();
}
/// A reduction over the lanes of a warp; the first lane gets the result, and here every other one, too.
template <class T, int Width = 32>
class WarpReduce {
 public:
  struct TempStorage {};
  ZELLIGE_DEVICE explicit WarpReduce(TempStorage&) {}
  template <class F>
  ZELLIGE_DEVICE T Reduce(T value, F combine) {
    return ::zellige::cuda::reduce_lanes(warp_mask<Width>(), value, combine, "cub::WarpReduce");
  }
  ZELLIGE_DEVICE T Sum(T value) { return Reduce(value, ::cub::Sum()); }
};
template <class T, int Width = 32>
class WarpScan {
 public:
  struct TempStorage {};
  ZELLIGE_DEVICE explicit WarpScan(TempStorage&) {}
  ZELLIGE_DEVICE void InclusiveSum(T in, T& out) {
    out = cooperative_groups::inclusive_scan(cooperative_groups::coalesced_group(warp_mask<Width>()), in, ::cub::Sum());
  }
  ZELLIGE_DEVICE void ExclusiveSum(T in, T& out) {
    out = cooperative_groups::exclusive_scan(cooperative_groups::coalesced_group(warp_mask<Width>()), in, ::cub::Sum());
  }
  template <class F>
  ZELLIGE_DEVICE void InclusiveScan(T in, T& out, F combine) {
    out = cooperative_groups::inclusive_scan(cooperative_groups::coalesced_group(warp_mask<Width>()), in, combine);
  }
};

/// Loads and stores of a block: N adjacent items for each thread.
template <class T, int X, int N, BlockLoadAlgorithm How = BLOCK_LOAD_DIRECT>
class BlockLoad {
 public:
  struct TempStorage {};
  BlockLoad() = default;
  ZELLIGE_DEVICE explicit BlockLoad(TempStorage&) {}
  template <class P>
  ZELLIGE_DEVICE void Load(P from, T (&items)[N], int valid = X * N, T other = T()) {
    const int rank = static_cast<int>(cooperative_groups::thread_block::thread_rank());
    for (int i = 0; i < N; ++i) {
      const int at = How == BLOCK_LOAD_STRIPED ? rank + i * X : rank * N + i;
      items[i] = at < valid ? static_cast<T>(from[at]) : other;
    }
  }
};
template <class T, int X, int N, BlockStoreAlgorithm How = BLOCK_STORE_DIRECT>
class BlockStore {
 public:
  struct TempStorage {};
  BlockStore() = default;
  ZELLIGE_DEVICE explicit BlockStore(TempStorage&) {}
  template <class P>
  ZELLIGE_DEVICE void Store(P to, T (&items)[N], int valid = X * N) {
    const int rank = static_cast<int>(cooperative_groups::thread_block::thread_rank());
    for (int i = 0; i < N; ++i)
      if (const int at = How == BLOCK_STORE_STRIPED ? rank + i * X : rank * N + i; at < valid) to[at] = items[i];
  }
};

/// Calls done() with true if the call only asks for the size of the temporary memory.
inline bool asks_for_size(void* memory, std::size_t& bytes) {
  if (memory) return false;
  return bytes = 256, true;
}
template <class T>
std::vector<T> on_host(const T* p, std::size_t n) {
  std::vector<T> all(n);
  if (n) cudaMemcpy(all.data(), p, n * sizeof(T), cudaMemcpyDefault);
  return all;
}
template <class T>
cudaError_t to_device(T* p, const std::vector<T>& all) {
  return all.empty() ? cudaSuccess : cudaMemcpy(p, all.data(), all.size() * sizeof(T), cudaMemcpyDefault);
}

struct DeviceReduce {
  template <class T, class U, class F, class I>
  static cudaError_t Reduce(void* memory, std::size_t& bytes, const T* in, U* out, int n, F combine, I first,
                            cudaStream_t = nullptr) {
    if (asks_for_size(memory, bytes)) return cudaSuccess;
    U sum = static_cast<U>(first);
    for (const T& x : on_host(in, static_cast<std::size_t>(n))) sum = combine(sum, static_cast<U>(x));
    return to_device(out, std::vector<U>{sum});
  }
  template <class T, class U>
  static cudaError_t Sum(void* memory, std::size_t& bytes, const T* in, U* out, int n, cudaStream_t = nullptr) {
    return Reduce(memory, bytes, in, out, n, ::cub::Sum(), U());
  }
  template <class T, class U>
  static cudaError_t Max(void* memory, std::size_t& bytes, const T* in, U* out, int n, cudaStream_t = nullptr) {
    return Reduce(memory, bytes, in, out, n, ::cub::Max(), std::numeric_limits<U>::lowest());
  }
  template <class T, class U>
  static cudaError_t Min(void* memory, std::size_t& bytes, const T* in, U* out, int n, cudaStream_t = nullptr) {
    return Reduce(memory, bytes, in, out, n, ::cub::Min(), std::numeric_limits<U>::max());
  }
};
struct DeviceScan {
  template <class T, class U, class F, class I>
  static cudaError_t ExclusiveScan(void* memory, std::size_t& bytes, const T* in, U* out, F combine, I first, int n,
                                   cudaStream_t = nullptr) {
    if (asks_for_size(memory, bytes)) return cudaSuccess;
    std::vector<U> all;
    U sum = static_cast<U>(first);
    for (const T& x : on_host(in, static_cast<std::size_t>(n)))
      all.push_back(sum), sum = combine(sum, static_cast<U>(x));
    return to_device(out, all);
  }
  template <class T, class U, class F>
  static cudaError_t InclusiveScan(void* memory, std::size_t& bytes, const T* in, U* out, F combine, int n,
                                   cudaStream_t = nullptr) {
    if (asks_for_size(memory, bytes)) return cudaSuccess;
    std::vector<U> all;
    for (const T& x : on_host(in, static_cast<std::size_t>(n)))
      all.push_back(all.empty() ? static_cast<U>(x) : static_cast<U>(combine(all.back(), static_cast<U>(x))));
    return to_device(out, all);
  }
  template <class T, class U>
  static cudaError_t ExclusiveSum(void* memory, std::size_t& bytes, const T* in, U* out, int n,
                                  cudaStream_t = nullptr) {
    return ExclusiveScan(memory, bytes, in, out, ::cub::Sum(), U(), n);
  }
  template <class T, class U>
  static cudaError_t InclusiveSum(void* memory, std::size_t& bytes, const T* in, U* out, int n,
                                  cudaStream_t = nullptr) {
    return InclusiveScan(memory, bytes, in, out, ::cub::Sum(), n);
  }
};
struct DeviceRadixSort {
  template <class K>
  static cudaError_t SortKeys(void* memory, std::size_t& bytes, const K* in, K* out, int n, int = 0,
                              int = 8 * sizeof(K), cudaStream_t = nullptr) {
    return sort(memory, bytes, in, out, static_cast<const int*>(nullptr), static_cast<int*>(nullptr), n,
                std::less<K>());
  }
  template <class K>
  static cudaError_t SortKeysDescending(void* memory, std::size_t& bytes, const K* in, K* out, int n, int = 0,
                                        int = 8 * sizeof(K), cudaStream_t = nullptr) {
    return sort(memory, bytes, in, out, static_cast<const int*>(nullptr), static_cast<int*>(nullptr), n,
                std::greater<K>());
  }
  template <class K, class V>
  static cudaError_t SortPairs(void* memory, std::size_t& bytes, const K* in, K* out, const V* values, V* sorted, int n,
                               int = 0, int = 8 * sizeof(K), cudaStream_t = nullptr) {
    return sort(memory, bytes, in, out, values, sorted, n, std::less<K>());
  }
  template <class K, class V>
  static cudaError_t SortPairsDescending(void* memory, std::size_t& bytes, const K* in, K* out, const V* values,
                                         V* sorted, int n, int = 0, int = 8 * sizeof(K), cudaStream_t = nullptr) {
    return sort(memory, bytes, in, out, values, sorted, n, std::greater<K>());
  }

 private:
  template <class K, class V, class F>
  static cudaError_t sort(void* memory, std::size_t& bytes, const K* in, K* out, const V* values, V* sorted, int n,
                          F before) {
    if (asks_for_size(memory, bytes)) return cudaSuccess;
    const std::vector<K> keys = on_host(in, static_cast<std::size_t>(n));
    std::vector<std::size_t> order(keys.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return before(keys[a], keys[b]); });
    std::vector<K> all;
    for (const std::size_t i : order) all.push_back(keys[i]);
    if (const cudaError_t e = to_device(out, all); e != cudaSuccess || !values) return e;
    const std::vector<V> with = on_host(values, static_cast<std::size_t>(n));
    std::vector<V> moved;
    for (const std::size_t i : order) moved.push_back(with[i]);
    return to_device(sorted, moved);
  }
};
struct DeviceSelect {
  template <class T, class U, class C, class F>
  static cudaError_t If(void* memory, std::size_t& bytes, const T* in, U* out, C* count, int n, F keep,
                        cudaStream_t = nullptr) {
    if (asks_for_size(memory, bytes)) return cudaSuccess;
    std::vector<U> all;
    for (const T& x : on_host(in, static_cast<std::size_t>(n)))
      if (keep(x)) all.push_back(x);
    to_device(out, all);
    return to_device(count, std::vector<C>{static_cast<C>(all.size())});
  }
};

}  // namespace cub
