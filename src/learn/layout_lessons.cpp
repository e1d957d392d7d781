// Lessons 1 to 4: layouts, coordinates, composition, division.
#include <fmt/format.h>

#include "learn/lesson.hpp"

namespace zellige::learn {
namespace {

using Kind = emulate::Finding::Kind;

constexpr const char* layouts_file =
    R"(// Lesson 1, layouts. Read docs/learn/01-layouts.md; mark it by: zellige learn check 1
//
// Exercise 1. Write the layout of a row-major matrix of 4 rows and 8 columns, as shape:stride.
// answer 1: ____
//
// Exercise 2. x is a row-major matrix of 32 rows and 8 columns. Copy it to y, which is column-major.
#include <zellige/block.hpp>
using namespace zellige;

__global__ void lesson(gmem<const float> x, gmem<float> y) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  const int from = row * 8 + column;  // strides (8,1)
  const int to = from;                // TODO: the strides of y
  y[to] = x[from];
}
)";

Lesson layouts() {
  Lesson l{1, "layouts", "01-layouts.md", layouts_file};
  l.questions = {
      {"(4,8):(8,1)",
       {{"(4,8):(1,4)",
         "that is column-major: one row down is the next element. In a row-major matrix the next element is one column "
         "to the right"},
        {"(4,8):(1,8)",
         "the strides are in the order of the shape: first that of a step down, then that of a step to the right"},
        {"(8,4):(4,1)", "that has 8 rows of 4; the shape is (rows, columns)"}},
       "the stride of a mode is how far one step along it moves in memory"}};
  KernelTask t;
  t.prepare = [](TaskLaunch& k) {
    k.config.grid = {1}, k.config.block = {256};
    k.add<float>("x", 256, true, [](int i) { return float(i); });
    k.add<float>("y", 256, false);
  };
  t.check = [](const TaskLaunch& k) -> std::string {
    const float* y = reinterpret_cast<const float*>(const_cast<emulate::Buffer&>(k.buffers[1]).data());
    for (int i = 0; i < 256; ++i) {
      const float wanted = float(i % 32 * 8 + i / 32);
      if (y[i] == wanted) continue;
      if (y[i] == float(i))
        return fmt::format(
            "y is still row-major: y[{}] is x({},{})\nof a column-major matrix of 32 rows, one row down is 1 element, "
            "one column to the right 32",
            i, i / 8, i % 8);
      return fmt::format("y[{}] is {}; expected {}, which is x({},{})", i, y[i], wanted, i % 32, i / 32);
    }
    return "";
  };
  t.hints = {{Kind::race, "",
              "two threads write the same element of y: the stride of a column must be the number of rows, 32"},
             {Kind::out_of_bounds, "", "the greatest index of y is 31 * 1 + 7 * 32 = 255"}};
  l.tasks = {t};
  return l;
}

constexpr const char* coordinates_file =
    R"(// Lesson 2, coordinates. Read docs/learn/02-coordinates.md; mark it by: zellige learn check 2
//
// Exercise 1. To which index does (4,8):(8,1) map the coordinate (2,3)?
// answer 1: ____
//
// Exercise 2. Which coordinate (row, column) of the shape (4,8) has the linear coordinate 14?
// answer 2: ____
)";

Lesson coordinates() {
  Lesson l{2, "coordinates", "02-coordinates.md", coordinates_file};
  l.questions = {
      {"19",
       {{"26", "that multiplies the strides the other way round: the row goes with 8, the column with 1"},
        {"14", "that is the linear coordinate, 2 + 4 * 3. The index is what the strides make of it: 2 * 8 + 3 * 1"}},
       "multiply each coordinate by its stride, and add"},
      {"(2,3)",
       {{"(1,6)",
         "that counts along the last mode first, as C does. A linear coordinate counts along the first mode first: 14 "
         "= 2 + 4 * 3"},
        {"(3,2)", "that is (column, row)"}},
       "14 modulo 4 is the row, 14 / 4 the column"}};
  return l;
}

constexpr const char* composition_file =
    R"(// Lesson 3, composition. Read docs/learn/03-composition.md; mark it by: zellige learn check 3
//
// Exercise 1. A is (8,16):(16,1). What is A o 4:2, every second row of its first column?
// answer 1: ____
//
// Exercise 2. A is (4,8):(8,1). Which B makes A o B the transpose, so that (A o B)(j,i) is A(i,j)?
// answer 2: ____
)";

Lesson composition() {
  Lesson l{3, "composition", "03-composition.md", composition_file};
  l.questions = {
      {"4:32",
       {{"4:2", "that is B. Now apply A: a step of 2 in its linear coordinates is 2 rows, and a row is 16 elements"},
        {"4:16", "that takes every row; 4:2 takes every second one"}},
       "apply A to 0, 2, 4 and 6"},
      {"(8,4):(4,1)",
       {{"(8,4):(1,8)", "that is the result A o B. B gives linear coordinates of A, which count down A's 4 rows first"},
        {"(8,4):(8,1)", "A has 4 rows: one column to the right is 4 linear coordinates further, not 8"}},
       "B(j,i) is the linear coordinate of (i,j) in A: i + 4 j"}};
  return l;
}

constexpr const char* division_file =
    R"(// Lesson 4, divide. Read docs/learn/04-divide.md; mark it by: zellige learn check 4
//
// Exercise 1. What is the complement of 4:2 below 24?
// answer 1: ____
//
// Exercise 2. (8,12):(12,1) is divided into tiles of (4,3). What is the layout of one tile?
// answer 2: ____
)";

Lesson division() {
  Lesson l{4, "divide", "04-divide.md", division_file};
  l.questions = {
      {"(2,3):(1,8)",
       {{"3:8", "that misses the odd numbers: 0 2 4 6 moved by 0, 8 and 16 never reaches 1"},
        {"6:1", "moved by 2, the layout reaches 2 a second time; the complement must reach each number once"},
        {"(3,2):(8,1)", "the right elements, but strides of a complement ascend"}},
       "the elements 0 2 4 6 leave a gap of one: a step of 1 fills it. They end at 8: steps of 8 follow"},
      {"(4,3):(12,1)",
       {{"(4,3):(3,1)", "a tile is not copied: it keeps the strides of the matrix, and one row down is 12 elements"},
        {"(2,4):(48,3)", "that is the layout of the tiles, where each begins; the tile itself has the shape (4,3)"}},
       "one row down and one column to the right cost in the tile what they cost in the matrix"}};
  return l;
}

}  // namespace

std::vector<Lesson> layout_lessons() { return {layouts(), coordinates(), composition(), division()}; }

}  // namespace zellige::learn
