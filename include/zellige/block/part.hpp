// Defines Part: the position of a tile in its matrix and the size of the matrix. Epilogues and stores use it to skip
// elements of the tile that are outside the matrix.
#pragma once

namespace zellige {

/// Row and column of the tile's first element, and the numbers of rows and columns of the matrix.
struct Part {
  int row, column, rows, columns;
};

}  // namespace zellige
