// zellige_layout*: expressions of `zellige layout`.
#include "api/guard.hpp"
#include "graph/error.hpp"
#include "view/expression.hpp"
#include "view/layout_picture.hpp"
#include "view/operation.hpp"

using namespace zellige;
using namespace zellige::api;

zellige_status zellige_layout(const char* expression, char** result) {
  return guarded([&] { *result = text_copy(view::evaluate_expression(expression).text); });
}
zellige_status zellige_layout_operations(char** list) {
  return guarded([&] { *list = text_copy(view::list_of_operations()); });
}
zellige_status zellige_layout_svg(const char* expression, int element_bits, char** svg) {
  return guarded([&] {
    view::PictureOptions options;
    options.element_bits = view::element_bits(fmt::format("{}", element_bits));
    const view::Result result = view::evaluate_expression(expression);
    *svg = text_copy(view::svg(view::layout_picture(result.value, expression, options)));
  });
}
