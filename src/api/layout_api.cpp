// Implements zellige_layout* of the C API: evaluates and draws layout expressions, as the command `zellige
// layout` does.
#include "api/caller_memory.hpp"
#include "api/handles.hpp"
#include "graph/error.hpp"
#include "view/expression.hpp"
#include "view/layout_picture.hpp"

using namespace zellige;
using namespace zellige::api;

zellige_status zellige_layout(const char* expression, char** result) {
  return give_text(result, "result", [&] { return view::evaluate_expression(text_at(expression, "expression")).text; });
}
zellige_status zellige_layout_operations(char** list) { return give_text(list, "list", view::list_of_operations); }
zellige_status zellige_layout_svg(const char* expression, int element_bits, char** svg) {
  return give_text(svg, "svg", [&] {
    view::PictureOptions options;
    options.element_bits = view::element_bits(fmt::format("{}", element_bits));
    const std::string text = text_at(expression, "expression");
    const view::Result result = view::evaluate_expression(text);
    return view::svg(view::layout_picture(result.value, text, options));
  });
}
