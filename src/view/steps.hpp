// Shows how an operation of the layout algebra finds its result: each step as a line, and as a strip of pictures.
//
//   for (const std::string& line : steps("composition((6,2):(8,2), 4:3)").lines) puts(line.c_str());
//   // 4:3 takes every 3rd element of (6,2):(8,2), 4 of them
//   //   of mode 6:8 every 3rd: 2 elements, stride 24; 4 / 2 = 2 are left
//   ...
//
// composition, complement, logical_divide, logical_product, blocked_product, raked_product, and a swizzle of a layout.
#pragma once
#include <string>
#include <vector>

#include "view/layout_picture.hpp"

namespace zellige::view {

/// The steps of an operation: lines for a terminal, and the pictures of operands and result next to each other.
struct LayoutSteps {
  std::vector<std::string> lines;
  Picture picture;
};

/// Returns the steps of an expression whose outermost operation is one of those above. Throws Error if it is another one.
LayoutSteps steps(const std::string& expression, const PictureOptions&);

}  // namespace zellige::view
