// Converts tensors to strings, with the same text that print, print_tensor and << (write.hpp) print. Host only.
//
//   to_text(x)                                           "counting_iter(42) o (4,5):(_1,4)"
//   table_text(x, /*stream=*/false, /*head=*/true)       the output of print_tensor(x)
#pragma once
#include <string>
#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>
#include <zellige/tensor/write.hpp>

namespace zellige {

namespace detail {
/// A stream, and the base of a sink, that collects its output in a string.
struct text_stream {
  std::string out;
  int next_width = 0;

  void width(int n) { next_width = n; }
  void put(std::string const& s) {
    if (int(s.size()) < next_width) out.append(std::size_t(next_width) - s.size(), ' ');
    next_width = 0;
    out += s;
  }
  template <class... T>
  void format(char const* how, T... what) {
    char line[64];
    std::snprintf(line, sizeof line, how, what...);
    put(line);
  }
  text_stream& operator<<(char const* s) { return put(s), *this; }
  text_stream& operator<<(char c) { return put(std::string(1, c)), *this; }
  template <dynamic_integer T>
  text_stream& operator<<(T const& n) {
    return put(std::to_string(n)), *this;
  }
  text_stream& operator<<(void const* p) { return format("%p", p), *this; }
  template <class T>
  requires(!dynamic_integer<T> && !has_a_text<T> && requires(T const& x) { static_cast<float>(x); }) text_stream&
  operator<<(T const& x) {
    if constexpr (is_same_v<T, double>)
      format("%g", x);
    else
      format("%g", double(static_cast<float>(x)));
    return *this;
  }
};
/// A sink for tables that writes to a text_stream.
struct text_table {
  text_stream& s;
  void text(char const* t) const { s << t; }
  void letter(char c) const { s << c; }
  void number(long long n) const { s << n; }
  void number(unsigned long long n) const { s << n; }
  void real(double x) const { s.format("%f", x); }
  void address(void const* p) const { s.format("%p", p); }
  void wide(int width, long long n) const { s.format("%*lld", width, n); }
  void fixed(int width, double x) const { s.format("%*.2f", width, x); }
  void scientific(int width, int digits, double x) const { s.format("%*.*e", width, digits, x); }
};
}  // namespace detail

/// Returns the pointer and layout of a tensor as a string: the output of print(x).
template <tensor_like X>
std::string to_text(X const& x) {
  detail::text_stream s;
  detail::write_tensor(detail::text_table{s}, x);
  return s.out;
}
/// Returns the output of print_tensor(x, head) or, if `stream`, that of operator<<, as a string.
template <tensor_like X>
std::string table_text(X const& x, bool stream, bool head) {
  detail::text_stream s;
  if (stream)
    s << x;
  else
    detail::write_table(detail::text_table{s}, x, head);
  return s.out;
}

}  // namespace zellige
