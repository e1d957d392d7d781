// A layout as a picture. Rows are the first mode and columns the second; further modes make one grid for each
// of their coordinates. A mode that nests gets a heavy line after each run of its innermost part, so that
// tiles show.
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

/// Bits of an element: "f16", "half_t", "float", "u8", "16", ...; Error for what is neither.
int element_bits(std::string_view type);

/// `expression` is what the layout came from. Error where it is no layout, or too large to draw (65,536
/// elements). By thread, the layout is one of (thread, value) and the picture shows who holds each coordinate
/// of the tile.
Picture layout_picture(const Value& layout, const std::string& expression, const PictureOptions&);

/// A composed layout whose swizzle counts bytes of an unknown pointer, in elements: what pictures and banks
/// use.
Value in_elements(const Value&);

}  // namespace zellige::view
