// A program on layouts, from the installed headers alone.
#include <zellige/tensor.hpp>
#include <zellige/tensor/print.hpp>
using namespace zellige;

int main() {
  float values[256 * 128] = {};
  auto matrix = make_tensor(values, make_shape(256, 128), make_stride(128, _1{}));
  auto mine = local_tile(matrix, Shape<_128, _64>{}, make_coord(1, 1));
  mine(0, 0) = 1;
  print_layout(logical_divide(Layout<Shape<_8, _8>>{}, Shape<_2, _2>{}));
  return values[128 * 128 + 64] == 1 ? 0 : 1;
}
