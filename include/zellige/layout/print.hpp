// Converts layouts, tuples and numbers to strings in CuTe's notation, and prints layouts as tables to standard output.
// Host only.
#pragma once
#include <cstdio>
#include <zellige/layout.hpp>
#include <zellige/layout/picture.hpp>
#include <zellige/layout/write.hpp>

namespace zellige {

/// Returns a layout, tuple or number as a Value (algebra/value.hpp) that contains its run-time numbers.
/// Throws LayoutError if there are more than 64 run-time numbers.
template <class T>
Value describe(T const& t) {
  if constexpr (is_same_v<T, bool>) {
    return boolean(dynamic(t));
  } else {
    detail::Encoder e;
    Value v = detail::encode_type<T>::make(e);
    detail::Slots<64> slots{};
    int next = 0;
    if (e.inputs() > 64) throw LayoutError("print: more than 64 run-time numbers", {Rule::overflow, e.inputs(), 64});
    detail::gather(slots, next, t);
    auto known = [&](Num& n) {
      if (!n.is_static()) n = dynamic(e.is_wide(n.id - 1) ? slots.wide[n.id - 1] : slots.narrow[n.id - 1]);
    };
    for (ValueNode& n : v.nodes) known(n.s), known(n.d);
    return v;
  }
}
/// Returns t as a string in CuTe's notation, for example (_4,8):(_8,_1).
template <class T>
requires(!requires { T::tensor_tag; } && !is_same_v<T, Value> && !is_same_v<T, Refusal>) std::string
    to_text(T const& t) {
  return to_text(describe(t));
}

/// Prints a layout of rank 1 or 2 as a table of indices.
template <layout_like L>
void print_layout(L const& l) {
  static_assert(L::rank <= 2, "print_layout(layout): a table has two dimensions; group the modes into two");
  std::fputs(layout_table(describe(l)).c_str(), stdout);
}
/// Prints a layout of rank 1 or 2 as a LaTeX (TikZ) document.
template <layout_like L>
void print_latex(L const& l) {
  static_assert(L::rank <= 2, "print_latex(layout): a page has two dimensions; group the modes into two");
  std::fputs(layout_latex(describe(l)).c_str(), stdout);
}

}  // namespace zellige
