// Thrust's algorithms. What calls a function of the program for each element is a kernel, so that its accesses are watched; sorts,
// scans and reductions are done by the host on copies.
#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <tuple>

#include "zellige/cuda/launch.hpp"
#include "zellige/cuda/vectors.hpp"

namespace thrust {

struct execution_policy {
  template <class... A>
  const execution_policy& operator()(A&&...) const {
    return *this;
  }
  execution_policy on(cudaStream_t) const { return *this; }
};
inline constexpr execution_policy host, device;
namespace cuda {
inline constexpr execution_policy par;
}
namespace system::cuda {
inline constexpr execution_policy par;
}

template <class T = void>
using plus = std::plus<T>;
template <class T = void>
using minus = std::minus<T>;
template <class T = void>
using multiplies = std::multiplies<T>;
template <class T = void>
using negate = std::negate<T>;
template <class T = void>
using less = std::less<T>;
template <class T = void>
using greater = std::greater<T>;
template <class T = void>
using equal_to = std::equal_to<T>;
template <class T>
struct maximum {
  T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T>
struct minimum {
  T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T>
struct identity {
  T operator()(const T& x) const { return x; }
};
template <class T>
struct square {
  T operator()(const T& x) const { return x * x; }
};
template <class A, class B>
using pair = std::pair<A, B>;
using std::make_pair;

using std::get;
using std::make_tuple;
using std::tuple;
/// The elements of several ranges at one place, by reference. Places are counted from where the first range would be element 0 of
/// memory, so that the ends of two zips have a distance.
template <class... I>
struct Zipped {
  std::tuple<I...> all;
  auto operator()(std::ptrdiff_t i) const {
    return std::apply([i](const auto&... each) { return std::tuple<decltype(each[i])...>(each[i]...); }, all);
  }
};
template <class T>
std::ptrdiff_t place_of(T* p) {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(p) / sizeof(T));
}
template <class F>
std::ptrdiff_t place_of(const ComputedIterator<F>& i) {
  return i.place();
}
template <class... I>
auto make_zip_iterator(std::tuple<I...> iterators) {
  const std::ptrdiff_t place = place_of(in_kernels(std::get<0>(iterators)));
  return std::apply(
      [place](const auto&... each) {
        return ComputedIterator(Zipped<decltype(in_kernels(each))...>{{in_kernels(each) + (-place)...}}, place);
      },
      iterators);
}
template <class... I>
auto make_zip_iterator(I... iterators) {
  return make_zip_iterator(std::tuple<I...>(iterators...));
}

using std::default_random_engine;
using std::minstd_rand;
using std::normal_distribution;
using std::uniform_int_distribution;
using std::uniform_real_distribution;
namespace random {
using namespace ::thrust;
}

/// Runs step(i) for i below n in a kernel.
template <class F>
void each(const char* name, std::ptrdiff_t n, F step) {
  if (n <= 0) return;
  const auto body = [](F s, std::ptrdiff_t count) {
    const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) s(i);
  };
  ::zellige::cuda::launch(
      name, body, ::zellige::cuda::Configuration(dim3(static_cast<unsigned>((n + 127) / 128)), dim3(128)), step, n);
}
/// Returns the elements of a range, on the host; and gives a range elements of the host.
template <class I>
std::vector<std::remove_const_t<typename std::iterator_traits<I>::value_type>> taken(I first, I last) {
  std::vector<std::remove_const_t<typename std::iterator_traits<I>::value_type>> all;
  for (; first != last; ++first) all.push_back(*first);
  return all;
}
template <class T>
std::vector<std::remove_const_t<T>> taken(device_ptr<T> first, device_ptr<T> last) {
  std::vector<std::remove_const_t<T>> all(static_cast<std::size_t>(last - first));
  if (!all.empty()) cudaMemcpy(all.data(), first.get(), all.size() * sizeof(T), cudaMemcpyDeviceToHost);
  return all;
}
template <class T, class I>
I given(const std::vector<T>& all, I to) {
  return std::copy(all.begin(), all.end(), to);
}
template <class T, class U>
device_ptr<U> given(const std::vector<T>& all, device_ptr<U> to) {
  const std::vector<U> same(all.begin(), all.end());
  if (!same.empty()) cudaMemcpy(to.get(), same.data(), same.size() * sizeof(U), cudaMemcpyHostToDevice);
  return to + static_cast<std::ptrdiff_t>(same.size());
}
/// Whether an iterator is the host's own: an array, or memory of a vector.
template <class I>
inline constexpr bool of_host = true;
template <class T>
inline constexpr bool of_host<device_ptr<T>> = false;
template <class F>
inline constexpr bool of_host<ComputedIterator<F>> = false;
template <class T>
inline constexpr bool of_host<counting_iterator<T>> = false;

template <class I, class F>
I for_each(I first, I last, F f) {
  if constexpr (of_host<I>) {
    std::for_each(first, last, f);
  } else {
    auto from = in_kernels(first);
    each("thrust::for_each", last - first, [from, f](std::ptrdiff_t i) mutable { f(from[i]); });
  }
  return last;
}
template <class I, class N, class F>
I for_each_n(I first, N n, F f) {
  return ::thrust::for_each(first, first + static_cast<std::ptrdiff_t>(n), f);
}
template <class I, class O, class F>
O transform(I first, I last, O to, F f) {
  if constexpr (of_host<O>) return given(taken(first, last), to), std::transform(to, to + (last - first), to, f);
  auto from = in_kernels(first);
  auto out = in_kernels(to);
  each("thrust::transform", last - first, [from, out, f](std::ptrdiff_t i) mutable { out[i] = f(from[i]); });
  return to + (last - first);
}
template <class I, class J, class O, class F>
O transform(I first, I last, J second, O to, F f) {
  if constexpr (of_host<O>) return std::transform(first, last, second, to, f);
  auto from = in_kernels(first);
  auto other = in_kernels(second);
  auto out = in_kernels(to);
  each("thrust::transform", last - first,
       [from, other, out, f](std::ptrdiff_t i) mutable { out[i] = f(from[i], other[i]); });
  return to + (last - first);
}
template <class I, class T>
void fill(I first, I last, const T& value) {
  using E = typename std::iterator_traits<I>::value_type;
  given(std::vector<E>(static_cast<std::size_t>(last - first), static_cast<E>(value)), first);
}
template <class I, class N, class T>
I fill_n(I first, N n, const T& value) {
  return ::thrust::fill(first, first + static_cast<std::ptrdiff_t>(n), value), first + static_cast<std::ptrdiff_t>(n);
}
template <class I, class T = typename std::iterator_traits<I>::value_type>
void sequence(I first, I last, T from = T(), T step = T(1)) {
  std::vector<typename std::iterator_traits<I>::value_type> all;
  for (std::ptrdiff_t i = 0; i < last - first; ++i) all.push_back(static_cast<T>(from + static_cast<T>(i) * step));
  given(all, first);
}
template <class I, class F>
void generate(I first, I last, F f) {
  std::vector<typename std::iterator_traits<I>::value_type> all(static_cast<std::size_t>(last - first));
  std::generate(all.begin(), all.end(), f);
  given(all, first);
}
template <class I, class O>
O copy(I first, I last, O to) {
  return given(taken(first, last), to);
}
template <class I, class N, class O>
O copy_n(I first, N n, O to) {
  return ::thrust::copy(first, first + static_cast<std::ptrdiff_t>(n), to);
}
template <class I, class O, class F>
O copy_if(I first, I last, O to, F keep) {
  auto all = taken(first, last);
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& x) { return !keep(x); }), all.end());
  return given(all, to);
}
template <class I, class F>
I remove_if(I first, I last, F drop) {
  return ::thrust::copy_if(first, last, first, [&](const auto& x) { return !drop(x); });
}
template <class I>
I unique(I first, I last) {
  auto all = taken(first, last);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return given(all, first);
}

template <class I, class T, class F>
T reduce(I first, I last, T start, F combine) {
  for (const auto& x : taken(first, last)) start = combine(start, x);
  return start;
}
template <class I, class T>
T reduce(I first, I last, T start) {
  return ::thrust::reduce(first, last, start, std::plus<>());
}
template <class I>
auto reduce(I first, I last) {
  return ::thrust::reduce(first, last, typename std::iterator_traits<I>::value_type());
}
template <class I, class F, class T, class G>
T transform_reduce(I first, I last, F change, T start, G combine) {
  for (const auto& x : taken(first, last)) start = combine(start, change(x));
  return start;
}
template <class I, class J, class T>
T inner_product(I first, I last, J second, T start) {
  const auto a = taken(first, last), b = taken(second, second + (last - first));
  return std::inner_product(a.begin(), a.end(), b.begin(), start);
}
template <class I, class T>
std::ptrdiff_t count(I first, I last, const T& value) {
  const auto all = taken(first, last);
  return std::count(all.begin(), all.end(), value);
}
template <class I, class F>
std::ptrdiff_t count_if(I first, I last, F f) {
  const auto all = taken(first, last);
  return std::count_if(all.begin(), all.end(), f);
}
#define ZELLIGE_EXTREME(NAME)                                                 \
  template <class I, class F = std::less<>>                                   \
  I NAME(I first, I last, F before = {}) {                                    \
    const auto all = taken(first, last);                                      \
    return first + (std::NAME(all.begin(), all.end(), before) - all.begin()); \
  }
ZELLIGE_EXTREME(max_element)
ZELLIGE_EXTREME(min_element)
#undef ZELLIGE_EXTREME
template <class I, class J>
bool equal(I first, I last, J second) {
  return taken(first, last) == taken(second, second + (last - first));
}

template <class I, class O, class F = std::plus<>>
O inclusive_scan(I first, I last, O to, F combine = {}) {
  auto all = taken(first, last);
  std::partial_sum(all.begin(), all.end(), all.begin(), combine);
  return given(all, to);
}
template <class I, class O, class T, class F>
O exclusive_scan(I first, I last, O to, T start, F combine) {
  std::vector<T> all;
  for (const auto& x : taken(first, last)) all.push_back(start), start = combine(start, x);
  return given(all, to);
}
template <class I, class O, class T>
O exclusive_scan(I first, I last, O to, T start) {
  return ::thrust::exclusive_scan(first, last, to, start, std::plus<>());
}
template <class I, class O>
O exclusive_scan(I first, I last, O to) {
  return ::thrust::exclusive_scan(first, last, to, typename std::iterator_traits<I>::value_type());
}

template <class I, class F = std::less<>>
void sort(I first, I last, F before = {}) {
  auto all = taken(first, last);
  std::sort(all.begin(), all.end(), before);
  given(all, first);
}
template <class I, class F = std::less<>>
void stable_sort(I first, I last, F before = {}) {
  auto all = taken(first, last);
  std::stable_sort(all.begin(), all.end(), before);
  given(all, first);
}
template <class I, class J, class F = std::less<>>
void sort_by_key(I first, I last, J values, F before = {}) {
  const auto keys = taken(first, last);
  const auto with = taken(values, values + (last - first));
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return before(keys[a], keys[b]); });
  auto sorted = keys;
  auto moved = with;
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = keys[order[i]], moved[i] = with[order[i]];
  given(sorted, first), given(moved, values);
}
template <class I, class F = std::less<>>
bool is_sorted(I first, I last, F before = {}) {
  const auto all = taken(first, last);
  return std::is_sorted(all.begin(), all.end(), before);
}
template <class I, class J, class O, class P>
std::pair<O, P> reduce_by_key(I first, I last, J values, O keys_to, P values_to) {
  const auto keys = taken(first, last);
  const auto with = taken(values, values + (last - first));
  auto kept = keys;
  auto sums = with;
  std::size_t n = 0;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (n > 0 && kept[n - 1] == keys[i])
      sums[n - 1] = sums[n - 1] + with[i];
    else
      kept[n] = keys[i], sums[n++] = with[i];
  kept.resize(n), sums.resize(n);
  return {given(kept, keys_to), given(sums, values_to)};
}

// The same with an execution policy.
#define ZELLIGE_WITH_POLICY(NAME)                                  \
  template <class... A>                                            \
  decltype(auto) NAME(const execution_policy&, A&&... arguments) { \
    return ::thrust::NAME(std::forward<A>(arguments)...);          \
  }
ZELLIGE_WITH_POLICY(for_each)
ZELLIGE_WITH_POLICY(transform)
ZELLIGE_WITH_POLICY(fill)
ZELLIGE_WITH_POLICY(sequence)
ZELLIGE_WITH_POLICY(copy)
ZELLIGE_WITH_POLICY(copy_if)
ZELLIGE_WITH_POLICY(remove_if)
ZELLIGE_WITH_POLICY(unique)
ZELLIGE_WITH_POLICY(reduce)
ZELLIGE_WITH_POLICY(transform_reduce)
ZELLIGE_WITH_POLICY(count)
ZELLIGE_WITH_POLICY(count_if)
ZELLIGE_WITH_POLICY(max_element)
ZELLIGE_WITH_POLICY(min_element)
ZELLIGE_WITH_POLICY(inclusive_scan)
ZELLIGE_WITH_POLICY(exclusive_scan)
ZELLIGE_WITH_POLICY(sort)
ZELLIGE_WITH_POLICY(stable_sort)
ZELLIGE_WITH_POLICY(sort_by_key)
ZELLIGE_WITH_POLICY(reduce_by_key)
#undef ZELLIGE_WITH_POLICY

}  // namespace thrust
