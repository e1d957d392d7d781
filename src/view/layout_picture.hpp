// Draws a picture of a layout as grids of cells. Rows are the first mode and columns the second; each
// coordinate of the further modes is a grid of its own. In a nested mode a heavy line follows each
// repetition of the innermost part, so that tiles are visible.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <zellige/layout/algebra/value.hpp>

#include "view/picture.hpp"

namespace zellige::view {

/// What the colour of a cell shows: the layout's value, its bank, or the thread of a thread-value layout.
enum class Colouring { value, bank, thread };

/// Options of layout_picture().
struct PictureOptions {
  Colouring colouring = Colouring::bank;
  int element_bits = 32;  // bits per element, from which banks follow
  // (M, N) of the tile that a thread-value layout covers; none: from its coordinates.
  std::optional<Value> shape = {};
};

/// Returns the size of an element type in bits. `type` is a name ("f16", "half_t", "float", "u8") or the
/// number of bits itself ("16"). Throws Error for anything else.
int element_bits(std::string_view type);

/// Returns the picture of a layout. `expression`, from which the layout was evaluated, is its title. With
/// Colouring::thread the layout is (thread, value), and each cell of the tile shows its owner. Throws Error
/// if the value is not a layout, or has more than 65,536 elements.
Picture layout_picture(const Value& layout, const std::string& expression, const PictureOptions&);

/// Returns the value as a layout whose offsets count elements, for pictures and bank conflicts. A composed
/// layout whose swizzle works on byte addresses is converted; other values are returned unchanged.
Value in_elements(const Value&);

}  // namespace zellige::view
