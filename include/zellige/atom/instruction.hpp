// Instruction: the descriptor of one instruction, with what a planner needs to select it and what the tests
// check.
//
//   for (const Instruction& row : instructions())                   // instruction_table.hpp: all of them
//     if (row.kind == Instruction::Kind::mma && row.compute_capability <= target.compute_capability) ...
//
// A row describes the instruction; the function that issues it (mma.hpp, ldmatrix.hpp, cp_async.hpp) has the
// same PTX, and its reference body (mma_reference.hpp, matrix_move_reference.hpp) computes from the layouts
// of this row. Host code only.
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
    mbarrier_bytes,  // completes by the bytes of an mbarrier
    bulk_group,      // of TMA stores, waited for by the issuing thread
    commit_group     // of wgmma
  };
  enum class Space : unsigned char { none, gmem, smem, rmem, dsmem };

  struct Operand {
    const char* type = "";         // f16, bf16, tf32, f32, b16, b32, b64, b128
    int bits = 0;                  // of one element
    Number number = Number::none;  // a matrix instruction's element type
    Space space = Space::none;
    ThreadValue layout{};  // if the operand is in registers or addressed by threads
    int registers = 0;     // 32-bit registers per thread, 0 for memory
    int alignment = 0;     // bytes, for each address that a thread passes; 0 for registers
    // For a shared-memory tile addressed by a descriptor or TMA: bit i admits SwizzleMode i; bit 0 of majors
    // admits tiles contiguous along K, bit 1 along M or N.
    unsigned char swizzles = 0, majors = 0;
  };

  const char* name;        // CuTe's
  const char* ptx;         // mnemonic with all its qualifiers
  int compute_capability;  // the minimum required
  Kind kind;
  int issuers;              // threads that issue it together: 1, 8 (a quad pair), 32 or 128
  int m = 0, n = 0, k = 0;  // an MMA's shape
  // An MMA: d = a b + c with d laid out as c. A copy: a is the source, c the destination.
  Operand a{}, b{}, c{};
  Completion completion = Completion::at_once;
  bool zero_fill = false;  // a copy that can read fewer bytes and zero-fill the rest
  // The cycles for which it occupies its pipe on its first architecture (SM80 if older), without conflicts: a
  // warp's MMA occupies one of the four tensor pipes, a warpgroup's all of them, a copy the port of shared
  // memory. A cp.async is counted for 32 threads.
  int cycles = 1;
  // Cycles from its issue until its result can be used or its data has arrived, if measured: latency.hpp.
  std::optional<int> latency{};
  // The reference body. Null if the emulator's engine implements it (asynchronous copies and synchronisation,
  // src/emulate), or if it is a complex matmul, composed of others.
  Body body = nullptr;
  MmaEnding ending = MmaEnding::none;
  bool only_of_its_architecture = false;  // sm_90a only: neither sm_90 nor later
  const char* call = "";                  // as a kernel calls it; "": a warpgroup's, wgmma.hpp
};

}  // namespace zellige
