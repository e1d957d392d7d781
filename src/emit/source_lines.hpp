// Builds indented lines of generated code, and prints small pieces that all of the emitter uses.
#pragma once
#include <string>
#include <vector>

#include "emit/index.hpp"
#include "plan/kernel_plan.hpp"

namespace zellige::emit {

/// A loop that counts from `from` to `trip_count`: its head and its counter. For a single iteration the head is
/// empty and the counter is `from`.
struct Counted {
  std::string head;  // "for (int i = 0; i < 4; ++i) "
  Index at;
};
Counted counted(const char* counter, std::int64_t trip_count, const char* type = "int",
                std::int64_t from = 0);

/// Generated lines; tracks the depth of open braces.
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
  /// For lines that close a block and open the next, such as "} catch (...) {".
  void open_again() { ++depth_; }
  /// A preprocessor directive, without indentation.
  void raw(const std::string& s) { text_ += s; }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

std::string type_name(graph::DType);      // half_t
std::string register_type(graph::DType);  // the type it is computed in: float, or int for an integer
std::string float_literal(double);        // 0.25f; exact to float
std::string int_literal(double);          // (-3)
/// The integer type for a counter up to `last`.
const char* index_type(std::int64_t last);
// Types of layouts. Kernels create no objects of them: a layout that is only a type costs no compile time.
std::string layout_text(const graph::Shape&, const graph::Strides&);  // Layout<Shape<Int<2>, ..>, Stride<..>>
std::string swizzled(const plan::Buffer&, const std::string& layout);
std::string buffer_layout(const plan::Buffer&);  // with partials and swizzle

}  // namespace zellige::emit
