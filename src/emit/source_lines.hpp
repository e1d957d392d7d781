// Builds lines of generated code, indented by open braces; formats types, literals, loops and
// elementwise operators for the whole emitter.
#pragma once
#include <string>

#include "emit/index.hpp"
#include "graph/reductions.hpp"
#include "kernel/kernel.hpp"

namespace zellige::emit {

/// The head of a counting loop and its counter. With one iteration the head is empty and the counter a constant.
struct CountedLoop {
  std::string head;  // "for (int i = 0; i < 4; ++i) "
  Index at;
};
/// Returns the head of a loop in which `counter`, of type `type`, runs from `from` to trip_count - 1.
CountedLoop counted(const char* counter, std::int64_t trip_count, const char* type = "int", std::int64_t from = 0);

/// Generated source. `open` and `close` print a line and change the indentation of the lines that follow.
class Text {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + fmt::format(format, std::forward<Args>(args)...) +
             "\n";
  }
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line(format, std::forward<Args>(args)...);
    ++depth_;
  }
  void close(const char* end = "}") {
    --depth_;
    line("{}", end);
  }
  /// Returns a name that no other variable of the text has: the stem and a number.
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, variables_++); }
  /// Appends `s` unchanged, without indentation.
  void raw(const std::string& s) { text_ += s; }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
  int variables_ = 0;  // that have been named
};

/// Returns the C++ type of a dtype: "half_t".
std::string type_name(graph::DType);
/// Returns the type in which values of a dtype are computed: "float", "double" for f64, or "int" or
/// "int64_t" for integers.
std::string register_type(graph::DType);
/// Returns a float literal of the value, rounded to float: "0.25f".
std::string float_literal(double);
/// Returns an int literal of a value, negative ones in parentheses: "(-3)".
std::string int_literal(double, graph::DType);
/// Returns a literal of a value in the type in which values of a dtype are computed, the nearest one that the dtype has.
std::string literal(double, graph::DType);
/// Returns the integer type for a counter with values up to `last`: "int", or "long long" if int is too small.
const char* index_type(std::int64_t last);
/// Returns the C++ expression of an elementwise node, with the operands' expressions inserted. `from` is
/// the operands' dtype. Throws Error if the operator is not elementwise, has no expression for this dtype,
/// or has a wrong number of operands.
std::string formula(const tile::Node& node, const std::vector<std::string>& operands, graph::DType from);

/// Returns the C++ function that joins two numbers of the dtype, in floating point, as the monoid does, for a kernel's
/// functions that take one.
std::string join_source(const graph::Monoid&, graph::DType);
/// Returns the class in which a thread joins numbers of the dtype, if the monoid has one: "LogSum".
std::string carrier(const graph::Monoid&, graph::DType);

// The following functions return types of layouts. Kernels create no objects of these types, which saves compile time.
/// Returns "Layout<Shape<Int<2>, ..>, Stride<Int<1>, ..>>", in "Swizzled<B, M, S, ..>" if the layout is swizzled.
std::string layout_text(values::View);
/// Returns the type of a buffer's layout. If the buffer has several partial results per element, the first mode of the
/// layout is the index of the partial result.
std::string buffer_layout(const kernel::SmemTensor&);

}  // namespace zellige::emit
