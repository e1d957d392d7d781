// CUDA's <cuda/atomic>: atomics as objects, and atomic_ref for the elements of arrays. An operation that releases is a
// fence and a relaxed operation, as PTX defines it.
#pragma once
#include "zellige/cuda/atomics.hpp"
#include "zellige/cuda/scopes.hpp"

namespace zellige::cuda {

/// Fences an atomic operation of this order, if it releases. of_block: its scope is the block.
ZELLIGE_DEVICE void release_before(::std::memory_order order, bool of_block) {
  if (order != ::std::memory_order_relaxed && order != ::std::memory_order_acquire &&
      order != ::std::memory_order_consume)
    host->fence(of_block);
}

/// The operations of an atomic at an address.
template <class T, ::cuda::thread_scope Scope>
class AtomicAt {
 public:
  using value_type = T;
  ZELLIGE_DEVICE explicit AtomicAt(T* p) : p_(p) {}

  ZELLIGE_DEVICE T load(::std::memory_order = ::std::memory_order_seq_cst) const {
    return atomic(p_, [](T old) { return old; });
  }
  ZELLIGE_DEVICE void store(T v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    change(order, [v](T) { return v; });
  }
  ZELLIGE_DEVICE T exchange(T v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T) { return v; });
  }
  ZELLIGE_DEVICE bool compare_exchange_strong(T& expected, T v, ::std::memory_order order = ::std::memory_order_seq_cst,
                                              ::std::memory_order = ::std::memory_order_seq_cst) const {
    const T wanted = expected;
    expected = change(order, [v, wanted](T old) { return __builtin_memcmp(&old, &wanted, sizeof(T)) == 0 ? v : old; });
    return __builtin_memcmp(&expected, &wanted, sizeof(T)) == 0;
  }
  ZELLIGE_DEVICE bool compare_exchange_weak(T& expected, T v, ::std::memory_order order = ::std::memory_order_seq_cst,
                                            ::std::memory_order = ::std::memory_order_seq_cst) const {
    return compare_exchange_strong(expected, v, order);
  }
  ZELLIGE_DEVICE T fetch_add(T v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T old) { return static_cast<T>(old + v); });
  }
  ZELLIGE_DEVICE T fetch_sub(T v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T old) { return static_cast<T>(old - v); });
  }
  ZELLIGE_DEVICE T fetch_min(T v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T old) { return v < old ? v : old; });
  }
  ZELLIGE_DEVICE T fetch_max(T v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T old) { return old < v ? v : old; });
  }
  template <class U = T>
  ZELLIGE_DEVICE T fetch_and(U v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T old) { return static_cast<T>(old & v); });
  }
  template <class U = T>
  ZELLIGE_DEVICE T fetch_or(U v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T old) { return static_cast<T>(old | v); });
  }
  template <class U = T>
  ZELLIGE_DEVICE T fetch_xor(U v, ::std::memory_order order = ::std::memory_order_seq_cst) const {
    return change(order, [v](T old) { return static_cast<T>(old ^ v); });
  }
  ZELLIGE_DEVICE T operator++(int) const { return fetch_add(T(1)); }
  ZELLIGE_DEVICE T operator++() const { return static_cast<T>(fetch_add(T(1)) + T(1)); }
  ZELLIGE_DEVICE T operator+=(T v) const { return static_cast<T>(fetch_add(v) + v); }
  ZELLIGE_DEVICE T operator=(T v) const { return store(v), v; }
  ZELLIGE_DEVICE operator T() const { return load(); }
  ZELLIGE_DEVICE void wait(T old, ::std::memory_order = ::std::memory_order_seq_cst) const {
    while (load() == old) {
    }
  }
  ZELLIGE_DEVICE void notify_one() const {}
  ZELLIGE_DEVICE void notify_all() const {}

 private:
  template <class F>
  ZELLIGE_DEVICE T change(::std::memory_order order, F how) const {
    release_before(order, Scope >= ::cuda::thread_scope_block);
    return atomic(p_, how);
  }
  T* p_;
};

/// The memory of an atomic object.
template <class T>
struct AtomicValue {
  T value;
  AtomicValue() = default;
  constexpr AtomicValue(T v) : value(v) {}
};

}  // namespace zellige::cuda

namespace cuda {

/// Atomic operations on an object that is not itself atomic.
template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public ::zellige::cuda::AtomicAt<T, Scope> {
 public:
  ZELLIGE_DEVICE explicit atomic_ref(T& object) : ::zellige::cuda::AtomicAt<T, Scope>(&object) {}
  using ::zellige::cuda::AtomicAt<T, Scope>::operator=;
};

/// An atomic object.
template <class T, thread_scope Scope = thread_scope_system>
class atomic : private ::zellige::cuda::AtomicValue<T> {
 public:
  using value_type = T;
  atomic() = default;
  constexpr atomic(T v) : ::zellige::cuda::AtomicValue<T>(v) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  ZELLIGE_DEVICE ::zellige::cuda::AtomicAt<T, Scope> at() const {
    return ::zellige::cuda::AtomicAt<T, Scope>(const_cast<T*>(&this->value));
  }
  ZELLIGE_DEVICE T load(memory_order order = memory_order_seq_cst) const { return at().load(order); }
  ZELLIGE_DEVICE void store(T v, memory_order order = memory_order_seq_cst) { at().store(v, order); }
  ZELLIGE_DEVICE T exchange(T v, memory_order order = memory_order_seq_cst) { return at().exchange(v, order); }
  ZELLIGE_DEVICE bool compare_exchange_strong(T& expected, T v, memory_order order = memory_order_seq_cst,
                                              memory_order = memory_order_seq_cst) {
    return at().compare_exchange_strong(expected, v, order);
  }
  ZELLIGE_DEVICE bool compare_exchange_weak(T& expected, T v, memory_order order = memory_order_seq_cst,
                                            memory_order = memory_order_seq_cst) {
    return at().compare_exchange_strong(expected, v, order);
  }
  ZELLIGE_DEVICE T fetch_add(T v, memory_order order = memory_order_seq_cst) { return at().fetch_add(v, order); }
  ZELLIGE_DEVICE T fetch_sub(T v, memory_order order = memory_order_seq_cst) { return at().fetch_sub(v, order); }
  ZELLIGE_DEVICE T fetch_min(T v, memory_order order = memory_order_seq_cst) { return at().fetch_min(v, order); }
  ZELLIGE_DEVICE T fetch_max(T v, memory_order order = memory_order_seq_cst) { return at().fetch_max(v, order); }
  ZELLIGE_DEVICE T fetch_and(T v, memory_order order = memory_order_seq_cst) { return at().fetch_and(v, order); }
  ZELLIGE_DEVICE T fetch_or(T v, memory_order order = memory_order_seq_cst) { return at().fetch_or(v, order); }
  ZELLIGE_DEVICE T fetch_xor(T v, memory_order order = memory_order_seq_cst) { return at().fetch_xor(v, order); }
  ZELLIGE_DEVICE T operator++(int) { return fetch_add(T(1)); }
  ZELLIGE_DEVICE T operator++() { return static_cast<T>(fetch_add(T(1)) + T(1)); }
  ZELLIGE_DEVICE T operator=(T v) { return store(v), v; }
  ZELLIGE_DEVICE operator T() const { return load(); }
};

ZELLIGE_DEVICE void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  if (order != memory_order_relaxed) ::zellige::cuda::host->fence(scope >= thread_scope_block);
}

}  // namespace cuda
