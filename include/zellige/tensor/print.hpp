// print, print_tensor and operator<< for tensors. Host only.
#pragma once
#include <zellige/layout/print.hpp>
#include <zellige/tensor.hpp>

namespace zellige {

namespace detail {
template <class T>
std::string iterator_text(T* const& p) {
  char text[40];
  std::snprintf(text, sizeof text, "ptr[%db](%p)", int(sizeof_bits<T>::value), static_cast<void const*>(p));
  return text;
}
template <class M, class It>
std::string iterator_text(memory_ptr<M, It> const& p) {
  char const* name = is_same_v<M, gmem_tag>   ? "gmem_"
                     : is_same_v<M, smem_tag> ? "smem_"
                     : is_same_v<M, rmem_tag> ? "rmem_"
                                              : "tmem_";
  return name + iterator_text(p.p);
}
template <class T>
std::string iterator_text(counting_iterator<T> const& it) {
  return "counting_iter(" + std::to_string(it.n) + ")";
}
template <class T>
std::string iterator_text(ArithmeticTupleIterator<T> const& it) {
  return "ArithTuple" + to_text(describe(*it));
}

/// One element as print_tensor prints it, or operator<< (which sets no precision of its own).
template <class T>
std::string element_text(T const& x, bool stream) {
  char text[64];
  if constexpr (dynamic_integer<T>) {
    std::snprintf(text, sizeof text,
                  stream          ? "%9lld"
                  : sizeof(T) > 4 ? "%5lld"
                                  : "%5lld",
                  static_cast<long long>(x));
  } else if constexpr (is_same_v<T, double>) {
    std::snprintf(text, sizeof text, "%11.3e", x);
  } else if constexpr (is_same_v<T, float>) {
    std::snprintf(text, sizeof text, "%10.2e", double(x));
  } else if constexpr (int_tuple<T>) {
    return std::string(stream ? 8 : 2, ' ') + to_text(describe(x));
  } else {
    std::snprintf(text, sizeof text, "%8.2f", double(float(x)));
  }
  return text;
}
}  // namespace detail

template <tensor_like X>
std::string to_text(X const& x) {
  return detail::iterator_text(x.data()) + " o " + to_text(describe(x.layout()));
}
template <tensor_like X>
void print(X const& x) {
  std::fputs(to_text(x).c_str(), stdout);
}

/// The elements in rows, under the tensor's own text.
template <tensor_like X>
std::string table_text(X const& x, bool stream, bool head) {
  Value const l = describe(x.layout());
  auto cell = [&](Value const& crd) {
    auto i = [&](int m) { return int(crd[m].root().s.v); };
    if constexpr (X::rank == 1)
      return detail::element_text(remove_cvref_t<decltype(x(0))>(x(int(crd.root().s.v))), stream);
    else if constexpr (X::rank == 2)
      return detail::element_text(remove_cvref_t<decltype(x(0))>(x(i(0), i(1))), stream);
    else if constexpr (X::rank == 3)
      return detail::element_text(remove_cvref_t<decltype(x(0))>(x(i(0), i(1), i(2))), stream);
    else
      return detail::element_text(remove_cvref_t<decltype(x(0))>(x(i(0), i(1), i(2), i(3))), stream);
  };
  std::string text = !head ? "" : stream ? to_text(l) + "\n" : to_text(x) + ":\n";
  return text + grid_text(detail::inner_layout(l), stream, cell, stream ? 9 : 5);
}
template <tensor_like X>
void print_tensor(X const& x, bool print_head = true) {
  std::fputs(table_text(x, false, print_head).c_str(), stdout);
}
template <class Stream, tensor_like X>
requires requires(Stream& s, char const* c) { s << c; }
Stream& operator<<(Stream& s, X const& x) {
  s << table_text(x, true, true).c_str();
  return s;
}

}  // namespace zellige
