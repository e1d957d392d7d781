// Instruction: the descriptor of one PTX instruction. It has what a planner needs to select the instruction
// (shape, operands, completion, cycles) and what the tests check.
//
//   for (const Instruction& row : instructions())                   // instruction_table.hpp: all of them
//     if (row.kind == Instruction::Kind::mma && row.compute_capability <= target.compute_capability) ...
//
// The C++ function that issues the instruction (mma.hpp, ldmatrix.hpp, cp_async.hpp) has the same PTX as the
// descriptor. The reference body (mma_reference.hpp, matrix_move_reference.hpp) computes the instruction's
// result on the CPU from the layouts in the descriptor. Host code only.
#pragma once

#include <optional>
#include <zellige/atom/body.hpp>
#include <zellige/atom/mma_traits/row.hpp>

namespace zellige {

/// The descriptor of one instruction.
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
  /// How a thread waits for the instruction's result.
  enum class Completion : unsigned char {
    at_once,         // no wait
    copy_group,      // cp_async_wait
    mbarrier_bytes,  // an mbarrier phase that expects the bytes
    bulk_group,      // tma_store_wait, by the issuing thread
    commit_group     // wgmma_wait
  };
  enum class Space : unsigned char { none, gmem, smem, rmem, dsmem, tmem };

  /// One operand: element type, memory space, and the distribution over the issuing threads.
  struct Operand {
    const char* type = "";         // f16, bf16, tf32, f32, b16, b32, b64, b128
    int bits = 0;                  // of one element
    Number number = Number::none;  // a matrix instruction's element type
    Space space = Space::none;
    ThreadValue layout{};  // (thread, value) -> element, if it is in registers or each thread passes an address
    int registers = 0;     // 32-bit registers per thread, 0 for memory
    int alignment = 0;     // in bytes, of each address that a thread passes; 0 for registers
    // For a shared-memory tile that a descriptor or TMA addresses. Bit i of `swizzles` is set if SwizzleMode
    // i is allowed. Bits 0 and 1 of `majors` are set if tiles contiguous along K, or along M or N, are
    // allowed.
    unsigned char swizzles = 0, majors = 0;
  };

  const char* name;        // in CuTe
  const char* ptx;         // mnemonic with all its qualifiers
  int compute_capability;  // the first that has it, 10 * major + minor
  Kind kind;
  int issuers;              // threads that issue it together: 1, 8 (a quad pair), 32 or 128
  int m = 0, n = 0, k = 0;  // an MMA's shape
  // MMA: d = a b + c, where d has the layout of c. Copy: a is the source, c the destination.
  Operand a{}, b{}, c{};
  Completion completion = Completion::at_once;
  bool zero_fill = false;  // a copy that can read fewer bytes than it writes, and fills with zeros
  // Issue cost: the cycles for which it occupies its pipe on its first architecture (SM80 if that is older),
  // without bank conflicts. A warp's MMA occupies one of the four tensor pipes, a warpgroup's all of them, a
  // copy the port of shared memory. A cp.async is counted for 32 threads.
  int cycles = 1;
  // Cycles from its issue until its result can be used or its data has arrived; empty if not measured
  // (latency.hpp).
  std::optional<int> latency{};
  // The reference body, which computes its result on the CPU. nullptr for asynchronous copies and
  // synchronisation, which src/emulate implements, and for complex MMAs, which are composed of real ones.
  Body body = nullptr;
  MmaEnding ending = MmaEnding::none;
  MmaKind mma_kind = MmaKind::standard;
  Number scale = Number::none;            // the type of a matrix instruction's scales; none: it has none
  int scale_block = 0;                    // consecutive elements along K that have one scale
  bool sparse = false;                    // A is stored without half of its elements
  bool only_of_its_architecture = false;  // true: only sm_90a has it, neither sm_90 nor later ones
  const char* call = "";                  // the C++ call in a kernel; "" for wgmma, see wgmma.hpp
};

}  // namespace zellige
