// Lines of generated code with indentation, and the small pieces of text that every part of the emitter prints.
#pragma once
#include <string>
#include <vector>

#include "emit/index.hpp"
#include "plan/kernel_plan.hpp"

namespace zellige::emit {

/// A loop that counts from `from` to `trips`: what stands before its body, and its counter. One trip is none: no head, and
/// `from`.
struct Counted {
  std::string head;  // "for (int i = 0; i < 4; ++i) "
  Index at;
};
Counted counted(const char* counter, std::int64_t trips, const char* type = "int", std::int64_t from = 0);

/// Generated lines; braces are opened and closed by name, so that what is open is always known.
class Text {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') +
             fmt::format(format, std::forward<Args>(args)...) + "\n";
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
  /// What closed a block and opened the next, "} catch (...) {", has one behind it.
  void open_again() { ++depth_; }
  /// A directive stands at the margin.
  void raw(const std::string& s) { text_ += s; }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

std::string type_name(graph::DType);      // half_t
std::string register_type(graph::DType);  // of what it is computed in: float, or int of an integer
std::string float_literal(double);        // 0.25f; exact to float
std::string int_literal(double);          // (-3)
/// The type that counts to `last`.
const char* index_type(std::int64_t last);
// Types of layouts. No object of one is made in a kernel: a layout that is but a name costs the compiler of kernels nothing.
std::string layout_text(const graph::Shape&, const graph::Strides&);  // Layout<Shape<Int<2>, ..>, Stride<..>>
std::string swizzled(const plan::Buffer&, const std::string& layout);
std::string buffer_layout(const plan::Buffer&);  // with partials and swizzle

}  // namespace zellige::emit
