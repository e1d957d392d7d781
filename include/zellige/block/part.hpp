// Defines Part: where a tile lies in its matrix, for epilogues and stores that must not exceed the matrix.
#pragma once

namespace zellige {

/// Row and column of the tile's first element, and the numbers of rows and columns of the matrix.
struct Part {
  int row, column, rows, columns;
};

}  // namespace zellige
