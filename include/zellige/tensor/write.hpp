// Prints pointers and tensors in CuTe's notation: print(x), pretty_print(x) and print_tensor(x) on the host and in
// kernels, stream << x on the host.
//
//   print(x)            prints the pointer and the layout: gmem_ptr[32b](0x7f...) o (4,8):(_1,4)
//   print_tensor(x)     prints the same and then the elements in rows; x has rank 1 to 4
//   std::cout << x      prints the layout and the elements
//
// No stream header is included: << works with any class that has << and width().
#pragma once
#include <zellige/layout/write.hpp>
#include <zellige/tensor/sparse.hpp>
#include <zellige/tensor/tensor.hpp>

namespace zellige {

namespace detail {
template <class Sink, class It>
ZELLIGE_HOST_DEVICE void write_iterator(Sink const& s, It const& it);

/// Writes the beginning of a pointer's text: `name`, the element size in bits, and "b](", as in "ptr[32b](".
template <class Sink>
ZELLIGE_HOST_DEVICE void write_bits_of(Sink const& s, char const* name, int bits) {
  s.text(name);
  s.number(static_cast<long long>(bits));
  s.text("b](");
}
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, T* const& p) {
  write_bits_of(s, "ptr[", sizeof_bits_v<T>);
  s.address(const_cast<remove_cvref_t<T> const*>(p));
  s.text(")");
}
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, subbyte_iterator<T> const& it) {
  write_bits_of(s, "subptr[", sizeof_bits_v<T>);
  s.address(it.ptr_);
  s.text(".");
  s.number(static_cast<long long>(it.idx_));
  s.text(")");
}
template <class Sink, memory_pointer P>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, P const& it) {
  s.text(is_gmem_v<P> ? "gmem_" : is_smem_v<P> ? "smem_" : "rmem_");
  write_iterator(s, it.p);
}
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, tmem_ptr<T> const& it) {
  write_bits_of(s, "tmem_[", sizeof_bits_v<T>);
  auto half = [&](unsigned n) {
    char const digits[] = "0123456789abcdef";
    for (int shift = 12; shift >= 0; shift -= 4) s.letter(digits[n >> shift & 15u]);
  };
  s.text("0x");
  half(it.addr_ >> 16);
  s.text(".");
  half(it.addr_ & 0xffffu);
  s.text(")");
}
template <class Sink, class Sw, class It>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, swizzle_ptr<Sw, It> const& it) {
  write(s, Sw{});
  s.text("_");
  write_iterator(s, it.ptr_);
}
template <class Sink, int N, class It>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, sparse_ptr<N, It> const& it) {
  s.text("sparse<");
  s.number(static_cast<long long>(N));
  s.text(">_");
  write_iterator(s, it.ptr_);
}
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, counting_iterator<T> const& it) {
  s.text("counting_iter(");
  write(s, it.n_);
  s.text(")");
}
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, ArithmeticTupleIterator<T> const& it) {
  s.text("ArithTuple");
  write(s, *it);
}
template <class Sink, class It, class F>
ZELLIGE_HOST_DEVICE void write_at(Sink const& s, transform_iter<It, F> const& it) {
  s.text("trans(");
  write_iterator(s, it.iter);
  s.text(")");
}
/// Writes an iterator of this library in CuTe's notation; writes "iter" for any other iterator.
template <class Sink, class It>
ZELLIGE_HOST_DEVICE void write_iterator(Sink const& s, It const& it) {
  if constexpr (requires { write_at(s, it); })
    write_at(s, it);
  else if constexpr (requires { it.p + 1; })
    write_iterator(s, it.p);
  else
    s.text("iter");
}

template <class It>
inline constexpr bool is_written_iterator = false;
template <memory_pointer P>
inline constexpr bool is_written_iterator<P> = true;
template <class T>
inline constexpr bool is_written_iterator<tmem_ptr<T>> = true;
template <class T>
inline constexpr bool is_written_iterator<subbyte_iterator<T>> = true;
template <class Sw, class It>
inline constexpr bool is_written_iterator<swizzle_ptr<Sw, It>> = true;
template <int N, class It>
inline constexpr bool is_written_iterator<sparse_ptr<N, It>> = true;
template <class T>
inline constexpr bool is_written_iterator<counting_iterator<T>> = true;
template <class T>
inline constexpr bool is_written_iterator<ArithmeticTupleIterator<T>> = true;
template <class It, class F>
inline constexpr bool is_written_iterator<transform_iter<It, F>> = true;

/// Writes a tensor as "iterator o layout".
template <class Sink, class X>
ZELLIGE_HOST_DEVICE void write_tensor(Sink const& s, X const& x) {
  write_iterator(s, x.data());
  s.text(" o ");
  write(s, x.layout());
}

// A printf sink with column widths, for tables.
struct printf_table : printf_sink {
  ZELLIGE_HOST_DEVICE void wide(int width, long long n) const { printf("%*lld", width, n); }
  ZELLIGE_HOST_DEVICE void fixed(int width, double x) const { printf("%*.2f", width, x); }
  ZELLIGE_HOST_DEVICE void scientific(int width, int digits, double x) const { printf("%*.*e", width, digits, x); }
};

template <class T>
inline constexpr bool is_packed_reference = false;
template <class T>
inline constexpr bool is_packed_reference<subbyte_reference<T>> = true;
/// Writes the element x in print_tensor's format for its type; numbers are padded to a fixed width.
template <class Sink, class T>
ZELLIGE_HOST_DEVICE void write_pretty(Sink const& s, T const& x) {
  if constexpr (is_packed_reference<T>) {
    write_pretty(s, x.get());
  } else if constexpr (is_same_v<T, bool>) {
    s.wide(3, x);
  } else if constexpr (dynamic_integer<T> && sizeof(T) >= 4) {
    s.wide(5, static_cast<long long>(x));
  } else if constexpr (is_same_v<T, float>) {
    s.scientific(10, 2, double(x));
  } else if constexpr (is_same_v<T, double>) {
    s.scientific(11, 3, x);
  } else if constexpr (sizeof_bits_v<T> < 8 && requires { int(x); }) {
    s.wide(sizeof_bits_v<T> == 1 ? 3 : 5, int(x));
  } else if constexpr (has_a_text<T> || dynamic_integer<T>) {
    s.text("  ");
    write(s, x);
  } else if constexpr (sizeof_bits_v<T> == 32 && requires { float(x); }) {
    s.scientific(10, 2, double(float(x)));
  } else if constexpr (requires { float(x); }) {
    s.fixed(8, double(float(x)));
  } else {
    s.text("  ");
    write(s, x);
  }
}

/// Writes a line that consists of the character `mark`, `count` times.
template <class Sink>
ZELLIGE_HOST_DEVICE void write_rule(Sink const& s, char mark, int count) {
  for (int i = 0; i < count; ++i) s.letter(mark);
  s.text("\n");
}
/// Writes the elements of a tensor of rank 1 to 4 in rows, and nothing of one with more modes. cell(element) writes one
/// element, in `width` characters. Lines separate the matrices that modes 2 and 3 select.
template <class Sink, class X, class Cell>
ZELLIGE_HOST_DEVICE void write_rows(Sink const& s, X const& x, int width, Cell const& cell) {
  constexpr Underscore all{};
  if constexpr (X::rank == 1) {
    for (int m = 0; m < int(x.size()); ++m) cell(x(m)), s.text("\n");
  } else if constexpr (X::rank == 2) {
    for (int m = 0; m < int(size<0>(x)); ++m) {
      for (int n = 0; n < int(size<1>(x)); ++n) cell(x(m, n));
      s.text("\n");
    }
  } else if constexpr (X::rank == 3) {
    for (int k = 0; k < int(size<2>(x)); ++k) {
      if (k > 0) write_rule(s, '-', width * int(size<1>(x)));
      write_rows(s, x(all, all, k), width, cell);
    }
  } else if constexpr (X::rank == 4) {
    for (int p = 0; p < int(size<3>(x)); ++p) {
      if (p > 0) write_rule(s, '=', width * int(size<1>(x)));
      write_rows(s, x(all, all, all, p), width, cell);
    }
  }
}
template <class Sink>
struct pretty_cell {
  Sink const& s;
  template <class T>
  ZELLIGE_HOST_DEVICE void operator()(T const& x) const {
    write_pretty(s, x);
  }
};
/// Writes a tensor's iterator and layout (if `head`) and its elements in rows.
template <class Sink, class X>
ZELLIGE_HOST_DEVICE void write_table(Sink const& s, X const& x, bool head) {
  if (head) write_tensor(s, x), s.text(":\n");
  write_rows(s, x, 5, pretty_cell<Sink>{s});
}
}  // namespace detail

/// Prints an iterator or tagged pointer in CuTe's notation.
template <class It>
requires detail::is_written_iterator<It> ZELLIGE_HOST_DEVICE void print(It const& it) {
  detail::write_iterator(detail::printf_sink{}, it);
}
template <class T>
requires(!is_same_v<remove_cvref_t<T>, char>) ZELLIGE_HOST_DEVICE void print(T* const& p) {
  detail::write_at(detail::printf_sink{}, p);
}
template <tensor_like X>
ZELLIGE_HOST_DEVICE void print(X const& x) {
  detail::write_tensor(detail::printf_sink{}, x);
}
template <class T>
ZELLIGE_HOST_DEVICE void print(subbyte_reference<T> const& x) {
  detail::write(detail::printf_sink{}, x.get());
}
/// Prints an element in print_tensor's format.
template <class T>
ZELLIGE_HOST_DEVICE void pretty_print(T const& x) {
  detail::write_pretty(detail::printf_table{}, x);
}
/// Prints the tensor's pointer and layout (if `print_head`) and its elements in rows.
template <tensor_like X>
ZELLIGE_HOST_DEVICE void print_tensor(X const& x, bool print_head = true) {
  detail::write_table(detail::printf_table{}, x, print_head);
}

#if !defined(__CUDACC_RTC__)
namespace detail {
template <class Stream>
concept stream_like = requires(Stream& s, char const* text) {
  s << text;
  s.width(9);
};
template <class Stream>
struct stream_cell {
  Stream& s;
  template <class T>
  void operator()(T const& x) const {
    s.width(9);
    if constexpr (is_packed_reference<T>)
      s << +x.get();
    else
      s << x;
  }
};
}  // namespace detail
template <class Stream, class It>
requires(detail::is_written_iterator<It>&& detail::stream_like<Stream>) Stream& operator<<(Stream& s, It const& it) {
  detail::write_iterator(detail::stream_sink<Stream>{s}, it);
  return s;
}
/// Writes the layout of a tensor and its elements in rows.
template <class Stream, class X>
requires(tensor_like<X>&& detail::stream_like<Stream>) Stream& operator<<(Stream& s, X const& x) {
  detail::stream_sink<Stream> const sink{s};
  detail::write(sink, x.layout());
  s << "\n";
  detail::write_rows(sink, x, 9, detail::stream_cell<Stream>{s});
  return s;
}
#endif

}  // namespace zellige
