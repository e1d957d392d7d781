// Draws layouts and tensors as text: tables of elements, and LaTeX pictures. Host only.
#pragma once
#include <cctype>
#include <cstdio>
#include <zellige/layout/algebra/tensors.hpp>
#include <zellige/layout/text.hpp>

namespace zellige {

namespace detail {
/// Returns s with blanks added on its left, so that it has at least `width` characters.
inline std::string padded(std::string const& s, std::size_t width) {
  return s.size() < width ? std::string(width - s.size(), ' ') + s : s;
}
/// Returns the element of the layout or tensor x at a coordinate, as a string. Throws LayoutError if the
/// layout refuses the coordinate.
inline std::string element(Tape& t, Value const& x, Value const& crd) {
  Value const v = x.is(ValueKind::tensor) ? algebra::tensor_call(t, x, crd) : [&] {
    Values a;
    a.push_back(x);
    a.push_back(crd);
    return apply(Op::layout_call, t, a);
  }();
  if (t.failed()) throw LayoutError("print: " + to_text(t.refusal()), t.refusal());
  return v.is_number() ? std::to_string(v.root().s.v) : to_text(v);
}
/// Returns the coordinate with the given modes as a Value of dynamic numbers.
inline Value coordinate(std::initializer_list<long long> at) {
  Value c = empty(ValueKind::tuple);
  for (long long i : at) c.add(number(dynamic(i)));
  return c;
}
/// Returns the uncomposed layout that defines the coordinates of the tensor, layout or composed layout x.
inline Value inner_layout(Value const& x) {
  if (x.is(ValueKind::tensor)) return inner_layout(x[1]);
  return algebra::innermost(x);
}
/// Returns the cosize of a layout, which determines the width of a table's cells.
inline long long max_offset_of(Value const& l) {
  Tape t;
  Values a;
  a.push_back(l);
  if (l.is(ValueKind::composed)) {
    Value const max_rank = apply(Op::cosize, t, a);
    if (!t.failed()) return max_rank.root().s.v;
    t = Tape();
  }
  return algebra::cosize_of(t, inner_layout(l)).v;
}
/// Returns the number of coordinates in mode m of l.
inline long long extent(Value const& l, int m) {
  Tape t;
  return algebra::product_of(t, shape_of(inner_layout(l)[m])).v;
}
}  // namespace detail

/// Returns the elements of a layout of rank 1 to 4 as a string, one line per row. Lines of dashes separate the
/// matrices that modes 2 and 3 select. cell(coordinate) returns an element as a string of `width` characters.
/// `stream` has no effect.
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
        rows(
            [&](long long m, long long n) {
              return rank > 3 ? coordinate({m, n, k, q}) : coordinate({m, n, k});
            },
            false);
      }
    }
  }
  (void)stream;
  return out;
}

/// Returns the string that print_tensor prints for the tensor x or, if `stream`, that operator<< writes, with
/// wider cells.
inline std::string tensor_text(Value const& x, bool stream) {
  Tape t;
  Value const l = detail::inner_layout(x);
  Value const shown = x[1];
  bool const coordinates = x[0].is(ValueKind::coordinates) && x[0][0].is_tuple();
  std::size_t const width = stream ? 9 : 5;
  auto cell = [&](Value const& crd) {
    std::string const text = detail::element(t, x, crd);
    if (coordinates) return std::string(stream ? 8 : 2, ' ') + text;
    return detail::padded(text, width);
  };
  std::string const head = stream ? to_text(shown) + "\n" : to_text(x) + ":\n";
  return head + grid_text(l, stream, cell, width);
}
/// Returns the layout of rank 2 whose indices a picture of the layout `given` shows. A swizzle of shared-memory addresses
/// becomes the swizzle of elements, as in as_position_independent_swizzle_layout, and a layout of rank 1 has one column.
/// Throws LayoutError if no swizzle of elements is equal to the one of addresses.
inline Value pictured(Value const& given) {
  Tape t;
  Value l = given;
  if (l.is(ValueKind::composed) && l[1].is(ValueKind::flag)) {
    long long const bits = View(l)[1].root().s.v;
    Value const swizzle = algebra::swizzle_of_elements(t, View(l)[0], bits);
    if (t.failed())
      throw LayoutError("print: a swizzle of bytes is no swizzle of elements of " + std::to_string(bits) + " bits",
                        t.refusal());
    l = algebra::bits_of(swizzle).bits == 0 ? Value(View(l)[2]) : algebra::composed(swizzle, number(0), View(l)[2]);
  }
  if (detail::inner_layout(l).rank() != 1) return l;
  Values a;
  a.push_back(l);
  a.push_back(number(2));
  return apply(Op::append_to, t, a);
}
/// Returns the table of the indices of a layout of rank 1 or 2, with row and column numbers.
inline std::string layout_table(Value const& given) {
  Tape t;
  Value const l = pictured(given);
  long long const rows = detail::extent(l, 0), columns = detail::extent(l, 1);
  std::size_t const width = std::to_string(detail::max_offset_of(l)).size() + 2;
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
namespace detail {
/// Returns the lines with which a LaTeX (TikZ) drawing begins: rows go down, columns to the right, a cell takes 1 cm.
inline std::string latex_head() {
  return "\\documentclass[convert]{standalone}\n\\usepackage{tikz}\n\n\\begin{document}\n"
         "\\begin{tikzpicture}[x={(0cm,-1cm)},y={(1cm,0cm)},every node/.style={minimum size=1cm, outer sep=0pt}]\n\n";
}
}  // namespace detail
/// Returns a LaTeX (TikZ) document that draws a layout of rank 1 or 2, with each cell shaded by its index modulo
/// 8.
inline std::string layout_latex(Value const& given) {
  static constexpr char const* shades[] = {"00", "40", "20", "60", "10", "50", "30", "70"};
  Tape t;
  Value const l = pictured(given);
  long long const rows = detail::extent(l, 0), columns = detail::extent(l, 1);
  auto at = [](long long m, long long n) { return "(" + std::to_string(m) + "," + std::to_string(n) + ")"; };
  std::string out = "% Layout: " + to_text(l) + "\n" + detail::latex_head();
  for (long long m = 0; m < rows; ++m) {
    for (long long n = 0; n < columns; ++n) {
      std::string const index = detail::element(t, l, detail::coordinate({m, n}));
      char const* shade = shades[(std::stoll(index) % 8 + 8) % 8];
      out += std::string("\\node[fill=black!") + shade + "] at " + at(m, n) + " {" + index + "};\n";
    }
  }
  out += "\\draw[color=black,thick,shift={(-0.5,-0.5)}] (0,0) grid " + at(rows, columns) + ";\n\n";
  auto label = [&](long long m, long long n, long long i) {
    out += "\\node at " + at(m, n) + " {\\Large{\\texttt{" + std::to_string(i) + "}}};\n";
  };
  for (long long m = 0; m < rows; ++m) label(m, -1, m);
  for (long long n = 0; n < columns; ++n) label(-1, n, n);
  return out + "\\end{tikzpicture}\n\\end{document}\n";
}

namespace detail {
/// Returns the value of the formula f for the given i. A formula consists of numbers, `i` and the operators
/// +, -, * and % (integer remainder), for example "i%8*0.5-1". Throws LayoutError if f is not a formula.
inline double formula_at(std::string const& f, double i) {
  std::size_t at = 0;
  auto wrong = [&] {
    throw LayoutError("formula \"" + f + "\": numbers, i, +, -, * and % are understood, character " +
                          std::to_string(at + 1) + " is not",
                      {Rule::not_a_layout, static_cast<long long>(at), 0});
  };
  auto factor = [&] {
    if (at < f.size() && f[at] == 'i') return ++at, i;
    std::size_t used = 0;
    if (at == f.size() || !(std::isdigit(static_cast<unsigned char>(f[at])) || f[at] == '.' || f[at] == '-')) wrong();
    double const x = std::stod(f.substr(at), &used);
    at += used;
    if (at < f.size() && f[at] == 'f') ++at;
    return x;
  };
  auto term = [&] {
    double p = factor();
    while (at < f.size() && (f[at] == '*' || f[at] == '%')) {
      bool const product = f[at++] == '*';
      double const q = factor();
      if (!product && q == 0) wrong();
      p = product ? p * q : double(static_cast<long long>(p) % static_cast<long long>(q));
    }
    return p;
  };
  double sum = term();
  while (at < f.size()) {
    bool const minus = f[at] == '-';
    if (!minus && f[at] != '+') wrong();
    ++at;
    sum += minus ? -term() : term();
  }
  return sum;
}
}  // namespace detail
/// Returns the string that print_tensor prints for a tensor with layout l, if its element at index i is
/// formula(i) converted to `type`.
inline std::string values_text(std::string const& type, Value const& l, std::string const& formula) {
  Tape t;
  std::string const kind = type.ends_with("_t") ? type.substr(0, type.size() - 2) : type;
  bool const small = kind == "int8" || kind == "uint8" || kind == "int16" || kind == "uint16" || kind == "char";
  bool const whole = kind.starts_with("int") || kind.starts_with("uint") || kind == "unsigned";
  auto cell = [&](Value const& crd) {
    double const x = detail::formula_at(formula, std::stod(detail::element(t, l, crd)));
    char text[64];
    if (small)  // without a width of their own
      std::snprintf(text, sizeof text, "  %lld", static_cast<long long>(x));
    else if (whole)
      std::snprintf(text, sizeof text, "%5lld", static_cast<long long>(x));
    else if (kind == "double")
      std::snprintf(text, sizeof text, "%11.3e", x);
    else if (kind == "float")
      std::snprintf(text, sizeof text, "%10.2e", x);
    else
      std::snprintf(text, sizeof text, "%8.2f", x);
    return std::string(text);
  };
  return grid_text(detail::inner_layout(l), false, cell, 5);
}

}  // namespace zellige
