// Draws a layout. Rows are the first mode and columns the second; each coordinate of the further modes makes
// a grid of its own. A nested mode gets a heavy line after each run of its innermost part, so that tiles are
// visible.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <zellige/layout/algebra/value.hpp>

#include "view/picture.hpp"

namespace zellige::view {

enum class Colouring { value, bank, thread };

struct PictureOptions {
  Colouring colouring = Colouring::bank;
  int element_bits = 32;            // for banks
  std::optional<Value> shape = {};  // of the tile that a thread-value layout covers: (M, N)
};

/// Bits of an element type ("f16", "half_t", "float", "u8") or number ("16"). Throws Error for anything else.
int element_bits(std::string_view type);

/// `expression` is what the layout was evaluated from. Throws Error if it is not a layout, or too large to
/// draw (over 65,536 elements). When coloured by thread, the layout is (thread, value) and the picture shows
/// the owner of each coordinate of the tile.
Picture layout_picture(const Value& layout, const std::string& expression, const PictureOptions&);

/// A composed layout whose swizzle works on the bytes of an unknown pointer, converted to elements for
/// pictures and banks.
Value in_elements(const Value&);

}  // namespace zellige::view
