// Layouts and tensors drawn as text: tables, LaTeX. Host only.
#pragma once
#include <zellige/layout/algebra/tensors.hpp>
#include <zellige/layout/text.hpp>

#include <cstdio>

namespace zellige {

namespace detail {
inline std::string padded(std::string const& s, std::size_t width) {
  return s.size() < width ? std::string(width - s.size(), ' ') + s : s;
}
inline std::string element(Tape& t, Value const& x, Value const& crd) {
  Value const v = x.is(Kind::tensor) ? algebra::tensor_call(t, x, crd) : [&] {
    Values a;
    a.push_back(x);
    a.push_back(crd);
    return apply(Op::layout_call, t, a);
  }();
  if (t.failed()) throw LayoutError("print: " + to_text(t.refusal()), t.refusal());
  return v.is_number() ? std::to_string(v.root().s.v) : to_text(v);
}
inline Value coordinate(std::initializer_list<long long> at) {
  Value c = empty(Kind::tuple);
  for (long long i : at) c.add(number(dynamic(i)));
  return c;
}
inline Value inner_layout(Value const& x) {
  if (x.is(Kind::tensor)) return inner_layout(x[1]);
  return x.is(Kind::composed) ? x[2] : x;
}
inline long long extent(Value const& l, int m) {
  Tape t;
  return algebra::product_of(t, shape_of(inner_layout(l)[m])).v;
}
}  // namespace detail

/// The elements in rows, of ranks 1 to 4, as cell(coordinate) says, between the marks that print_tensor puts.
template <class Cell>
std::string grid_text(Value const& l, bool stream, Cell cell, std::size_t width) {
  using detail::coordinate;
  using detail::extent;
  std::string out;
  auto rows = [&](auto coordinate_of, bool single) {
    for (long long m = 0; m < extent(l, 0); ++m) {
      for (long long n = 0; n < (single ? 1 : extent(l, 1)); ++n) out += cell(coordinate_of(m, n));
      out += '\n';
    }
  };
  int const rank = l.rank();
  if (rank == 1) {
    rows([&](long long m, long long) { return number(dynamic(m)); }, true);
  } else if (rank == 2) {
    rows([&](long long m, long long n) { return coordinate({m, n}); }, false);
  } else {
    std::string const rule(width * std::size_t(extent(l, 1)), '-');
    for (long long q = 0; q < (rank > 3 ? extent(l, 3) : 1); ++q) {
      if (rank > 3 && q > 0) out += std::string(width * std::size_t(extent(l, 1)), '=') + '\n';
      for (long long k = 0; k < extent(l, 2); ++k) {
        if (k > 0) out += rule + '\n';
        rows([&](long long m, long long n) { return rank > 3 ? coordinate({m, n, k, q}) : coordinate({m, n, k}); },
             false);
      }
    }
  }
  (void)stream;
  return out;
}

/// What print_tensor prints, or with `stream` what operator<< does.
inline std::string tensor_text(Value const& x, bool stream) {
  Tape t;
  Value const l = detail::inner_layout(x);
  bool const coordinates = x[0].is(Kind::coordinates) && x[0][0].is_tuple();
  std::size_t const width = stream ? 9 : 5;
  auto cell = [&](Value const& crd) {
    std::string const text = detail::element(t, x, crd);
    if (coordinates) return std::string(stream ? 8 : 2, ' ') + text;
    return detail::padded(text, width);
  };
  std::string const head = stream ? to_text(l) + "\n" : to_text(x) + ":\n";
  return head + grid_text(l, stream, cell, width);
}
/// The table of a layout of rank 2.
inline std::string layout_table(Value const& l) {
  Tape t;
  long long const rows = detail::extent(l, 0), columns = detail::extent(l, 1);
  Value const inner = detail::inner_layout(l);
  std::size_t const width = std::to_string(algebra::cosize_of(t, inner).v).size() + 2;
  std::string out = to_text(l) + "\n    ";
  for (long long n = 0; n < columns; ++n) out += detail::padded(std::to_string(n), width) + ' ';
  out += '\n';
  std::string rule = "    ";
  for (long long n = 0; n < columns; ++n) rule += '+' + std::string(width, '-');
  rule += "+\n";
  for (long long m = 0; m < rows; ++m) {
    std::string label = std::to_string(m);
    out += rule + detail::padded(label, 2) + "  ";
    for (long long n = 0; n < columns; ++n) {
      out += "| " + detail::padded(detail::element(t, l, detail::coordinate({m, n})), width - 2) + ' ';
    }
    out += "|\n";
  }
  return out + rule;
}
inline std::string layout_latex(Value const& l) { return to_text(l); }
inline std::string values_text(std::string const& type, Value const& l, std::string const& formula) {
  return type + to_text(l) + formula;
}

}  // namespace zellige
