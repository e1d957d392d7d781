// Selects the instruction by which warps store accumulators to shared memory as 8x8 matrices (stmatrix), and lists the
// rows of memory that it writes.
//
//   no_matrix_store(plan, work, stmatrix_x4)                  // "", or why it does not store what the work has
//   for_each_matrix(accumulators, stmatrix_x4, use);          // use(warp, coordinates of the first elements of 8 rows)
//
// The instruction's source layout says which thread passes which element of a row, and its destination layout that a row
// is 16 adjacent bytes. It stores accumulators whose threads have the elements in the same way, if the elements of a row
// are adjacent in the buffer. Each thread then stores 8 elements at a time instead of a pair; if the accumulators'
// columns are contiguous in the buffer (.trans), instead of one.
#pragma once
#include <limits>
#include <string>

#include "kernel/evaluated_layout.hpp"
#include "kernel/kernel.hpp"
#include "selection/task.hpp"
#include "target/target.hpp"

namespace zellige::selection {

/// Returns why the instruction `store` cannot store what work `t` has in registers to the work's buffer; "" if it can.
std::string no_matrix_store(const kernel::Kernel&, const kernel::Work& t, const Instruction& store);

/// Sets the instruction of each task that writes accumulators to shared memory, Work::copy, to the target's stmatrix of
/// the most matrices that can store them. Tasks that none can store keep ordinary stores.
void choose_matrix_stores(const kernel::Kernel&, Tasks&, const target::Target&);

/// A value of a thread.
struct Holder {
  int thread = -1, value = 0;
};
/// The rows of the matrices that an instruction stores, and which value of a warp's threads is where in them.
class MatrixRows {
 public:
  explicit MatrixRows(const Instruction& store);
  /// Number of elements of a row.
  int elements() const { return 8 * store_.c.alignment / store_.c.bits; }
  /// Number of values of a thread that the instruction stores; it stores the values in groups of this number.
  int values_at_a_time() const { return 32 * store_.a.registers / store_.a.bits; }
  /// Returns the values of a warp's first group with which the rows begin: row 8 i + j is row j of matrix i.
  const std::vector<Holder>& starts() const { return starts_; }
  /// An element of a row: the value with which the row begins, and the number of elements before this one.
  struct Element {
    Holder start;
    int before = 0;
  };
  /// Returns the element that value number `value` of a thread becomes.
  Element element(int thread, int value) const;

 private:
  /// Returns the position of a value of the first group in the rows, one after another.
  int position(int thread, int value) const { return store_.a.layout(thread, value * store_.a.bits) / store_.a.bits; }

  const Instruction& store_;
  std::vector<Holder> starts_;
};

/// Calls use(warp, rows) for each 8x8 matrix that the warps store by `store`: the coordinates of the first elements of its 8
/// rows. The matrices of one instruction follow each other. Stops after `limit` calls. `use` must not keep a reference to
/// its argument, which is overwritten.
void for_each_matrix(const kernel::Context& accumulators, const Instruction& store, const kernel::UseAccess& use,
                     std::size_t limit = std::numeric_limits<std::size_t>::max());

}  // namespace zellige::selection
