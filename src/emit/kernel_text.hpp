// Emits the CUDA source of one kernel from its plan. Used only by the emitter.
//
//   const KernelText k(kernel, program, names, text);
//   write_kernel(k);                                    // appends a __global__ function to `text`
//
// The functions of the files NAME_text.cpp append the source of a step, a loop or a value. Each gets what the source depends on as
// arguments: the kernel (KernelText), the place of a step in the schedule (StepPlace), a loop over elements (LoopNest).
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emit/names.hpp"
#include "emit/source_lines.hpp"
#include "kernel/kernel.hpp"
#include "kernel/tensor_columns.hpp"

namespace zellige::emit {

using graph::OpKind;
using kernel::Context;
using kernel::SmemTensor;
using kernel::Work;
using kernel::WorkKind;
using tile::Node;
using tile::NodeKind;

/// A kernel, what its source calls tensors, and the text to which the source is appended. Nothing but the text changes.
struct KernelText {
  /// `function`: the name of a device function, for a launch of several tile programs: there each block calls the function of its
  /// program. Further arguments of the function are the block's number within its program, and the index at which the program's
  /// part of a concatenation begins. Empty: the source is a __global__ function.
  KernelText(const kernel::Kernel& kernel, const tile::TilePrograms& program, Names& names, Text& out,
             const std::string& function = "");

  const kernel::Kernel& plan;
  const tile::TilePrograms& program;
  const tile::TileProgram& block;
  Names& names;
  Text& out;
  const std::string function;
  const std::vector<std::string> tiles;  // by buffer: its name in the source
  const std::vector<int> uses;           // by node: how often it is an operand
  const kernel::TensorColumns columns;   // of products in tensor memory

  bool is_part() const { return !function.empty(); }
  int threads() const { return block.threads(); }
  const std::string& tile(int buffer) const { return tiles[static_cast<std::size_t>(buffer)]; }
  std::string global(int tensor) const { return names.global(program.tensors[static_cast<std::size_t>(tensor)].name); }
};

/// Where in the schedule a step is: whose it is, and what the loop around it says of it.
struct StepPlace {
  int agent = 0;
  Index iteration = 0;    // counter of the open loop
  std::int64_t from = 0;  // first value of the counter
  bool whole = false;     // the mask keeps all elements in the loop's iterations
  bool skips = false;     // the loop is a prologue, whose copies may be of iterations that there are not
  bool in_loop = false;   // over iterations
};

/// Appends the kernel's source.
void write_kernel(const KernelText&);
/// Emits the variable `begin`: the first iteration in which the mask keeps an element for this block. Emits nothing if all blocks
/// begin with iteration 0. Requires that the block's coordinates have been emitted.
void declare_first_iteration(const KernelText&);

// symmetric_text.cpp: where ranks exchange tiles.
/// Emits the coordinates of a block along the axes in a kernel that gathers rows: blocks begin with those of their rank.
void declare_gathering_block(const KernelText&, const std::set<int>& axes);
void begin_exchange_of_ranks(const KernelText&);
void end_exchange_of_ranks(const KernelText&);
std::string base(const KernelText&, int tensor);

}  // namespace zellige::emit
