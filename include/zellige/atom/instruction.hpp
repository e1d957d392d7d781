// An instruction as a row of data: what the planner chooses it by, and what the tests hold it to.
//
//   for (const Instruction& row : sm80_instructions)
//     if (row.kind == Instruction::Kind::mma && row.compute_capability <= target.compute_capability) ...
//
// A row says what the instruction is; the function that issues it (mma.hpp, ldmatrix.hpp, cp_async.hpp)
// carries the same PTX, and its reference body (mma_reference.hpp, ldmatrix_reference.hpp) computes from the layouts of this row. Host
// code only.
#pragma once

#include <zellige/atom/thread_value.hpp>

namespace zellige {

struct Instruction {
  enum class Kind : unsigned char { mma, matrix_load, async_copy };
  enum class Completion : unsigned char { at_once, copy_group };
  enum class Space : unsigned char { none, gmem, smem, rmem };

  struct Operand {
    const char* type = "";  // f16, bf16, tf32, f32, b16, b32, b64, b128
    int bits = 0;           // of one element
    Space space = Space::none;
    ThreadValue layout{};  // where the operand is in registers or is addressed by threads
    int registers = 0;     // 32-bit registers a thread, 0 for memory
    int alignment = 0;     // bytes, of each address that a thread passes; 0 for registers
  };

  const char* name;        // CuTe's
  const char* ptx;         // mnemonic with all its qualifiers
  int compute_capability;  // the least that has it
  Kind kind;
  int issuers;              // threads that issue it together: 1, or 32 for a warp
  int m = 0, n = 0, k = 0;  // an MMA's shape
  // An MMA: d = a b + c with d laid out as c. A copy: a is the source, c the destination.
  Operand a{}, b{}, c{};
  Completion completion = Completion::at_once;
  bool zero_fill = false;  // a copy that can be told to read less and write zeros for the rest
  // How long a warp's instruction holds its pipe on SM80, without conflicts: an MMA one of the four tensor
  // pipes, a copy the port of shared memory. 32 threads issue a cp.async.
  int cycles = 1;
};

}  // namespace zellige
