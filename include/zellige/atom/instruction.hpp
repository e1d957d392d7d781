// An instruction as a row of data: what a planner needs to choose it by, and what the tests hold it to.
//
//   for (const Instruction& row : instructions())                   // instruction_table.hpp: all of them
//     if (row.kind == Instruction::Kind::mma && row.compute_capability <= target.compute_capability) ...
//
// A row says what the instruction is; the function that issues it (mma.hpp, ldmatrix.hpp, cp_async.hpp)
// carries the same PTX, and its reference body (mma_reference.hpp, matrix_move_reference.hpp) computes from the
// layouts of this row. Host code only.
#pragma once

#include <optional>
#include <zellige/atom/body.hpp>
#include <zellige/atom/mma_traits/row.hpp>

namespace zellige {

struct Instruction {
  enum class Kind : unsigned char {
    mma,
    matrix_load,
    async_copy,
    matrix_store,
    tensor_copy,  // TMA
    bulk_copy,
    prefetch,
    barrier,
    fence,
    control
  };
  enum class Completion : unsigned char {
    at_once,
    copy_group,      // of cp.async
    mbarrier_bytes,  // an mbarrier counts its bytes
    bulk_group,      // of TMA's stores, by the thread that issued it
    commit_group     // of wgmma
  };
  enum class Space : unsigned char { none, gmem, smem, rmem, dsmem };

  struct Operand {
    const char* type = "";         // f16, bf16, tf32, f32, b16, b32, b64, b128
    int bits = 0;                  // of one element
    Number number = Number::none;  // of a matrix instruction: what it holds
    Space space = Space::none;
    ThreadValue layout{};  // where the operand is in registers or is addressed by threads
    int registers = 0;     // 32-bit registers a thread, 0 for memory
    int alignment = 0;     // bytes, of each address that a thread passes; 0 for registers
    // Of a tile in shared memory that a descriptor or TMA names: bit i admits SwizzleMode i; bit 0 of majors
    // admits tiles that run along K, bit 1 along M or N.
    unsigned char swizzles = 0, majors = 0;
  };

  const char* name;        // CuTe's
  const char* ptx;         // mnemonic with all its qualifiers
  int compute_capability;  // the least that has it
  Kind kind;
  int issuers;              // threads that issue it together: 1, 8 (a quad pair), 32 or 128
  int m = 0, n = 0, k = 0;  // an MMA's shape
  // An MMA: d = a b + c with d laid out as c. A copy: a is the source, c the destination.
  Operand a{}, b{}, c{};
  Completion completion = Completion::at_once;
  bool zero_fill = false;  // a copy that can be told to read less and write zeros for the rest
  // How long an instruction holds its pipe on the architecture that brought it (SM80 for what is older),
  // without conflicts: a warp's MMA one of the four tensor pipes, a warpgroup's all of them, a copy the port
  // of shared memory. 32 threads issue a cp.async.
  int cycles = 1;
  // From its issue until another may use the result, or the data lie there, in cycles, where that was measured: latency.hpp.
  std::optional<int> latency{};
  // What it computes. Without: what moves data beside the threads or orders them is the emulator's engine (src/emulate), a
  // complex product is made of others.
  Body body = nullptr;
  MmaEnding ending = MmaEnding::none;
  bool only_of_its_architecture = false;  // sm_90a, not sm_90 or what comes after it
  const char* call = "";                  // as a kernel writes it; "": a warpgroup's, wgmma.hpp
};

}  // namespace zellige
