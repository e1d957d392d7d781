// Defines engines, the storage of tensors. An ArrayEngine owns its elements, and copying it copies the elements. A
// ViewEngine or ConstViewEngine contains an iterator, and a copy of it refers to the same elements.
#pragma once
#include <zellige/tensor/array.hpp>
#include <zellige/tensor/overhang.hpp>
#include <zellige/tensor/pointer.hpp>

// ZELLIGE_OWNING annotates functions that mark a register array as unwritten on the emulator. A mark contains
// the code address at which it was made, for error messages. The functions are always inlined, so that this is
// an address in the kernel.
#if defined(ZELLIGE_EMULATE)
#include <zellige/emulate/registers.hpp>
#define ZELLIGE_OWNING __attribute__((always_inline))
#else
#define ZELLIGE_OWNING
#endif

namespace zellige {

namespace detail {
/// The array type of N elements T: packed if an element is smaller than a byte.
template <class T, int N, bool packed = sizeof_bits_v<T> % 8 != 0>
struct storage_of {
  using type = array_aligned<T, size_t(N), alignment_of(size_t(N) * sizeof(T), alignof(T))>;
};
template <class T, int N>
struct storage_of<T, N, true> {
  using type = array_subbyte<T, size_t(N)>;
};
}  // namespace detail

/// An engine that owns N elements: a thread's registers in a kernel.
template <class T, int N>
struct ArrayEngine {
  using Storage = typename detail::storage_of<T, N>::type;
  using iterator = typename Storage::iterator;
  using reference = iter_reference_t<iterator>;
  using element_type = T;
  using value_type = remove_cvref_t<T>;
  using memory = rmem_tag;

  Storage storage;
  ZELLIGE_HOST_DEVICE constexpr auto begin() { return storage.begin(); }
  ZELLIGE_HOST_DEVICE constexpr auto begin() const { return storage.begin(); }
  /// On the emulator, marks the elements as not yet written, so that reads of them are reported. Does nothing
  /// elsewhere.
  ZELLIGE_OWNING ZELLIGE_HOST_DEVICE constexpr void leave_unwritten() {
#if defined(ZELLIGE_EMULATE)
    if constexpr (emulate::number_bytes<value_type> != 0)
      if (!__builtin_is_constant_evaluated()) emulate::leave_unwritten(&*storage.begin(), N);
#endif
  }
};

namespace detail {
/// True for iterators over memory, whose views record out-of-bounds parts. Coordinates and numbers have no
/// end.
template <class It>
inline constexpr bool has_an_end = names_memory<It>;
}  // namespace detail

/// In a namespace whose name depends on whether run-time checks are on: views have different members with and
/// without checks, and such units must not link.
#if ZELLIGE_CHECK_EVERYWHERE
inline namespace checked {
#else
inline namespace unchecked {
#endif
/// An engine that refers to elements through an iterator; `over` records the part beyond the end of the
/// tensor (overhang.hpp).
template <class It>
struct ViewEngine {
  using iterator = It;
  using reference = iter_reference_t<It>;
  using element_type = iter_element_t<It>;
  using value_type = iter_value_t<It>;
  using memory = typename detail::memory_of<It>::type;
  using Over = conditional_t<ZELLIGE_CHECK_EVERYWHERE && detail::has_an_end<It>, Overhang, NoOverhang>;

  [[no_unique_address]] Over over = {};  // first, for the reason given for the layout in tensor.hpp
  It storage = {};

  ViewEngine() = default;
  ZELLIGE_HOST_DEVICE constexpr ViewEngine(It const& it, Over const& record = {}) : over(record), storage(it) {}
  ZELLIGE_HOST_DEVICE constexpr It const& begin() const { return storage; }
  ZELLIGE_HOST_DEVICE constexpr It& begin() { return storage; }
};
}  // namespace checked or unchecked
/// A read-only ViewEngine without a record of out-of-bounds parts.
template <class It>
struct ConstViewEngine {
  using iterator = It;
  using reference = iter_reference_t<It>;
  using element_type = iter_element_t<It>;
  using value_type = iter_value_t<It>;
  using memory = typename detail::memory_of<It>::type;

  It storage = {};

  ConstViewEngine() = default;
  ZELLIGE_HOST_DEVICE constexpr ConstViewEngine(It const& it) : storage(it) {}
  ZELLIGE_HOST_DEVICE constexpr It const& begin() const { return storage; }
};

}  // namespace zellige
