// Part: the position of a tile's first element in its matrix, and the matrix's
// size.
#pragma once

namespace zellige {

struct Part {
  int row, column, rows, columns;
};

}  // namespace zellige
