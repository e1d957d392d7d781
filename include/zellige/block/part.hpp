// Part: where a tile's first element lies in its matrix, and that matrix's size.
#pragma once

namespace zellige {

struct Part {
  int row, column, rows, columns;
};

}  // namespace zellige
