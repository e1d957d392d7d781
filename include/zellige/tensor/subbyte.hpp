// Defines iterators, references and arrays for packed elements smaller than a byte. A byte holds 8 one-bit or 2
// four-bit elements; 4 six-bit elements take 3 bytes.
//
//   subbyte_iterator<int4b_t> it(bytes);       // element 0 is in the low bits of bytes[0]
//   it[3] = int4b_t(-2);                       // writes the high half of bytes[1]; all other elements are unchanged
//   array_subbyte<uint2b_t, 14> a;             // 14 elements of 2 bits, in 4 bytes
//
// A write reads and writes whole bytes, so two threads must not write elements of the same byte concurrently.
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/tensor/iterator.hpp>

namespace zellige {

/// Size of an element in bits.
template <class T>
// The type is `auto` because nvcc does not accept an int as the argument of a template parameter of another
// integer type.
inline constexpr auto sizeof_bits_v = int(sizeof_bits<T>::value);
template <class T>
struct sizeof_bits<T const> : sizeof_bits<T> {};
/// A bool has one bit: tensors of bool are packed.
template <>
struct sizeof_bits<bool> : Int<1> {};

template <class T>
inline constexpr bool is_subbyte_v = sizeof_bits_v<T> < 8;
template <class T>
struct is_subbyte : bool_constant<is_subbyte_v<T>> {};

template <class T>
struct subbyte_iterator;

namespace detail {
template <class T>
struct byte_for {
  using type = unsigned char;
};
template <class T>
struct byte_for<T const> {
  using type = unsigned char const;
};
}  // namespace detail

/// A reference to a packed element of type T: converts to its value, and can be assigned.
template <class T>
class subbyte_reference {
 public:
  using element_type = T;
  using value_type = remove_cvref_t<T>;
  using storage_type = typename detail::byte_for<T>::type;

  ZELLIGE_HOST_DEVICE constexpr subbyte_reference(storage_type* byte, int bit) : ptr_(byte), idx_(bit) {}
  subbyte_reference(subbyte_reference const&) = default;

  ZELLIGE_HOST_DEVICE constexpr value_type get() const {
    unsigned item = unsigned(ptr_[0]) >> idx_;
    if (is_storage_unaligned()) item |= unsigned(ptr_[1]) << (8 - idx_);
    return __builtin_bit_cast(value_type, static_cast<unsigned char>(item & BitMask));
  }
  ZELLIGE_HOST_DEVICE constexpr operator value_type() const { return get(); }

  ZELLIGE_HOST_DEVICE constexpr subbyte_reference const& operator=(value_type const& value) const {
    static_assert(!is_same_v<T, value_type const>, "an element of a subbyte_iterator<T const> is written");
    unsigned const item = __builtin_bit_cast(unsigned char, value) & BitMask;
    ptr_[0] = static_cast<unsigned char>((ptr_[0] & ~(BitMask << idx_)) | item << idx_);
    if (is_storage_unaligned())
      ptr_[1] = static_cast<unsigned char>((ptr_[1] & ~(BitMask >> (8 - idx_))) | item >> (8 - idx_));
    return *this;
  }
  ZELLIGE_HOST_DEVICE constexpr subbyte_reference const& operator=(subbyte_reference const& other) const {
    return *this = other.get();
  }
  template <class U>
  ZELLIGE_HOST_DEVICE constexpr subbyte_reference const& operator=(subbyte_reference<U> const& other) const {
    return *this = value_type(other.get());
  }
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator<T> operator&() const;

 private:
  static constexpr unsigned BitMask = (1u << sizeof_bits_v<T>)-1;
  // Returns true if the element crosses a byte boundary. Only elements whose size does not divide eight bits
  // can.
  ZELLIGE_HOST_DEVICE constexpr bool is_storage_unaligned() const {
    return 8 % sizeof_bits_v<T> != 0 && idx_ + sizeof_bits_v<T> > 8;
  }
  storage_type* ptr_;
  int idx_;
};
// Compares the values of two packed elements.
template <class T, class U>
ZELLIGE_HOST_DEVICE constexpr bool operator==(subbyte_reference<T> const& a, subbyte_reference<U> const& b) {
  return a.get() == b.get();
}
template <class T, class U>
ZELLIGE_HOST_DEVICE constexpr bool operator<(subbyte_reference<T> const& a, subbyte_reference<U> const& b) {
  return a.get() < b.get();
}

/// Random-access iterator over packed elements: a byte address and a bit within the byte.
template <class T>
struct subbyte_iterator {
  using element_type = T;
  using value_type = remove_cvref_t<T>;
  using reference = subbyte_reference<T>;
  using storage_type = typename detail::byte_for<T>::type;

  storage_type* ptr_ = nullptr;
  int idx_ = 0;  // the bit of *ptr_ at which the element begins

  subbyte_iterator() = default;
  template <class P>
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator(P* p, int bit = 0) : idx_(bit) {
    if constexpr (is_same_v<remove_cvref_t<P>, unsigned char>)
      ptr_ = p;
    else
      ptr_ = reinterpret_cast<storage_type*>(p);
  }

  ZELLIGE_HOST_DEVICE constexpr reference operator*() const { return {ptr_, idx_}; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator operator+(I const& i) const {
    // The arithmetic shift and the mask are floor division and remainder, also for negative steps.
    long long const bits = static_cast<long long>(i) * sizeof_bits_v<T> + idx_;
    return subbyte_iterator(ptr_ + (bits >> 3), int(bits & 7));
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr reference operator[](I const& i) const {
    return *(*this + i);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator& operator+=(I const& i) {
    return *this = *this + i;
  }
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator& operator++() { return *this += 1; }
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator operator++(int) {
    subbyte_iterator const before = *this;
    return *this += 1, before;
  }
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator& operator--() { return *this += -1; }
  ZELLIGE_HOST_DEVICE constexpr subbyte_iterator operator--(int) {
    subbyte_iterator const before = *this;
    return *this += -1, before;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(subbyte_iterator const& a, subbyte_iterator const& b) {
    return a.ptr_ == b.ptr_ && a.idx_ == b.idx_;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<(subbyte_iterator const& a, subbyte_iterator const& b) {
    return a.ptr_ < b.ptr_ || (a.ptr_ == b.ptr_ && a.idx_ < b.idx_);
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<=(subbyte_iterator const& a, subbyte_iterator const& b) {
    return !(b < a);
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator>(subbyte_iterator const& a, subbyte_iterator const& b) {
    return b < a;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator>=(subbyte_iterator const& a, subbyte_iterator const& b) {
    return !(a < b);
  }
};
template <class T>
ZELLIGE_HOST_DEVICE constexpr subbyte_iterator<T> subbyte_reference<T>::operator&() const {
  return {ptr_, idx_};
}

namespace detail {
/// Returns the element x for arithmetic: its value if x is a reference to a packed element (smaller than a
/// byte), otherwise x itself.
template <class T>
ZELLIGE_HOST_DEVICE constexpr T const& loaded(T const& x) {
  return x;
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr remove_cvref_t<T> loaded(subbyte_reference<T> const& x) {
  return x.get();
}
}  // namespace detail

/// Returns a pointer to the byte in which the element at `it` begins.
template <class T>
ZELLIGE_HOST_DEVICE constexpr T* raw_pointer_cast(subbyte_iterator<T> const& it) {
  return reinterpret_cast<T*>(it.ptr_);
}
/// Returns a pointer or iterator to the same address with elements of type U.
template <class U, class T>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(subbyte_iterator<T> const& it) {
  constexpr bool constant = !is_same_v<T, remove_cvref_t<T>>;
  using V = conditional_t<constant, U const, U>;
  if constexpr (is_subbyte_v<U>)
    return subbyte_iterator<V>(it.ptr_, it.idx_);
  else
    return reinterpret_cast<V*>(it.ptr_);
}

/// An array of N packed elements, aligned to the largest power of two up to 16 that divides its bytes.
template <class T, size_t N>
struct array_subbyte {
  using element_type = T;
  using value_type = remove_cvref_t<T>;
  using reference = subbyte_reference<T>;
  using const_reference = subbyte_reference<T const>;
  using iterator = subbyte_iterator<T>;
  using const_iterator = subbyte_iterator<T const>;
  using pointer = T*;
  using const_pointer = T const*;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using storage_type = typename detail::byte_for<T>::type;
  static constexpr size_t bytes = (N * size_t(sizeof_bits_v<T>) + 7) / 8;
  static constexpr size_t StorageElements = bytes;

  alignas(bytes % 16 == 0  ? 16
          : bytes % 8 == 0 ? 8
          : bytes % 4 == 0 ? 4
          : bytes % 2 == 0 ? 2
                           : 1) unsigned char storage[bytes > 0 ? bytes : 1];

  ZELLIGE_HOST_DEVICE constexpr iterator begin() { return iterator(storage); }
  ZELLIGE_HOST_DEVICE constexpr const_iterator begin() const { return const_iterator(storage); }
  ZELLIGE_HOST_DEVICE constexpr const_iterator cbegin() const { return begin(); }
  ZELLIGE_HOST_DEVICE constexpr iterator end() { return begin() + N; }
  ZELLIGE_HOST_DEVICE constexpr const_iterator end() const { return begin() + N; }
  ZELLIGE_HOST_DEVICE constexpr const_iterator cend() const { return end(); }
  pointer data() = delete;  // no pointer can address half a byte
  const_pointer data() const = delete;
  ZELLIGE_HOST_DEVICE constexpr reference operator[](size_t i) { return begin()[i]; }
  ZELLIGE_HOST_DEVICE constexpr const_reference operator[](size_t i) const { return begin()[i]; }
  ZELLIGE_HOST_DEVICE constexpr reference at(size_t i) { return begin()[i]; }
  ZELLIGE_HOST_DEVICE constexpr const_reference at(size_t i) const { return begin()[i]; }
  ZELLIGE_HOST_DEVICE constexpr reference front() { return begin()[0]; }
  ZELLIGE_HOST_DEVICE constexpr const_reference front() const { return begin()[0]; }
  ZELLIGE_HOST_DEVICE constexpr reference back() { return begin()[N - 1]; }
  ZELLIGE_HOST_DEVICE constexpr const_reference back() const { return begin()[N - 1]; }
  ZELLIGE_HOST_DEVICE static constexpr size_t size() { return N; }
  ZELLIGE_HOST_DEVICE static constexpr size_t max_size() { return N; }
  ZELLIGE_HOST_DEVICE static constexpr bool empty() { return N == 0; }
  ZELLIGE_HOST_DEVICE constexpr void clear() {
    ZELLIGE_UNROLL
    for (size_t i = 0; i < bytes; ++i) storage[i] = 0;
  }
  ZELLIGE_HOST_DEVICE constexpr void fill(T const& value) {
    ZELLIGE_UNROLL
    for (size_t i = 0; i < N; ++i) begin()[i] = value;
  }
};
template <class T, size_t N>
struct sizeof_bits<array_subbyte<T, N>> : Int<int(8 * array_subbyte<T, N>::bytes)> {};

template <class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr void fill(array_subbyte<T, N>& a, T const& value) {
  a.fill(value);
}
template <class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr void clear(array_subbyte<T, N>& a) {
  a.clear();
}
template <int I, class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr auto get(array_subbyte<T, N>& a) {
  static_assert(0 <= I && size_t(I) < N, "get<I>(array_subbyte): I is out of range");
  return a[I];
}

}  // namespace zellige
