// A thread of a kernel that executes a statement of inline PTX.
#pragma once
#include <span>

#include "cuda/access.hpp"
#include "cuda/ptx_statement.hpp"
#include "zellige/cuda/host.hpp"
#include "zellige/emulate/tma_map.hpp"

namespace zellige::cuda {

/// The state of a thread that executes a statement: its registers, and the operands that the program gives.
struct PtxMachine {
  static constexpr unsigned max_registers = 160;  // operands, and registers

  emulate::Fiber& f;
  emulate::Site site;
  const PtxOperand* operands;
  unsigned operand_count;
  std::size_t next = 0;  // the instruction that comes next
  std::uint64_t variables[max_registers] = {};
  std::uint64_t slots[max_registers] = {};
  bool known[max_registers] = {};  // slots[i] is the operand's value

  /// Returns an operand's bits.
  std::uint64_t read(const PtxValue&);
  std::uint64_t read(const PtxInstruction& i, unsigned operand);
  /// Returns an operand of a floating-point type as a double, of a number of 16 or 8 bits element `at`.
  double read_float(const PtxValue&, PtxType, unsigned at = 0);
  bool read_predicate(const PtxValue& v) { return read(v) & 1; }
  /// Gives an operand these bits; what `_` gets is dropped.
  void write(const PtxValue&, std::uint64_t);
  /// Writes the result of an instruction that may also have a predicate: "d|p".
  void write_pair(const PtxValue&, std::uint64_t value, bool predicate);

  /// Ends the block: the instruction has an operand that it does not take here.
  [[noreturn]] void refuse(const PtxInstruction&, std::string_view why);

  /// Returns the address that an operand "[a+n]" names. of_shared: the instruction says that it is one of shared memory.
  unsigned char* address(const PtxValue&, bool of_shared);
  /// Returns the tensor in which an address lies; ends the block if it is in none.
  emulate::Place place(unsigned char* p, const char* verb);
  /// Returns the place in the thread's own block of an address of shared memory, and the block that it is of.
  emulate::Place own_place(const PtxValue&, unsigned& rank);
};

/// Returns the value of a special register, such as "laneid".
std::uint64_t ptx_special_value(emulate::Fiber&, std::string_view name);

/// An instruction that the emulator executes, and the words that it may have.
struct PtxRow {
  std::string_view name;  // its first words
  PtxFunction run;
  std::string_view words;  // others that it may have, besides types, separated by blanks; "*": any
};
/// The instructions of each file.
std::span<const PtxRow> ptx_arithmetic();  // ptx_arithmetic.cpp, ptx_bits.cpp
std::span<const PtxRow> ptx_bits();
std::span<const PtxRow> ptx_conversions();
std::span<const PtxRow> ptx_memory();        // ptx_memory.cpp
std::span<const PtxRow> ptx_warps();         // ptx_warps.cpp
std::span<const PtxRow> ptx_matrices();      // ptx_matrices.cpp
std::span<const PtxRow> ptx_asynchronous();  // ptx_asynchronous.cpp

/// Returns a number of a floating-point type as a double, and the bits of one; f64, f32 and those of 16 and 8 bits.
double ptx_widen(PtxType, std::uint64_t bits);
std::uint64_t ptx_round(PtxType, double);

/// Returns the bits of x that a type of so many bits has.
inline std::uint64_t ptx_low(std::uint64_t x, unsigned bits) {
  return bits >= 64 ? x : x & ((std::uint64_t(1) << bits) - 1);
}
/// Returns the low bits of x as a signed number.
inline std::int64_t ptx_signed(std::uint64_t x, unsigned bits) {
  return bits >= 64 ? std::int64_t(x) : std::int64_t(x << (64 - bits)) >> (64 - bits);
}

/// Encodes a tensor map (CUtensorMap); returns a CUresult. Reports the argument that is wrong.
int encode_tensor_map(const TensorMapCall&);
/// Reads the tensor map at an address that a kernel gives to TMA; its region is the allocation that it describes. Ends the
/// block if there is no map of memory that is still allocated.
emulate::TmaMap read_tensor_map(emulate::Fiber&, const unsigned char* map, emulate::Site);

/// Executes a statement for the thread that runs.
void execute_ptx(const char* statement, const PtxOperand*, unsigned operands, emulate::Site);

}  // namespace zellige::cuda
