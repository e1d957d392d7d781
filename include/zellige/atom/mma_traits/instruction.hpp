// Converts a matrix instruction's MmaRow (shape and types) to a complete Instruction descriptor with layouts, cycles
// and reference implementation. instruction_rows.hpp adds the names. Host code only.
//
//   constexpr Instruction i = instruction_of(find_mma("SM80_16x8x16_F32F16F16F32_TN"));
//   i.c.layout(5, 3)                                               // 57: thread 5 holds (9, 3) in value 3
#pragma once

#include <zellige/atom/instruction.hpp>
#include <zellige/atom/mma_reference.hpp>
#include <zellige/atom/mma_traits/table.hpp>
#include <zellige/atom/narrow_mma_reference.hpp>

namespace zellige {

namespace detail {

/// Returns how many multiply-adds one of an SM's four tensor pipes performs per cycle with this instruction, on the
/// GPU that introduced the instruction (on SM80, if the instruction is older). Returns 1 for an instruction of a
/// single thread.
constexpr int products_a_cycle(MmaRow const& row) {
  if (row.issuer == Issuer::thread) return 1;
  if (row.arch < 80) return row.a == Number::f16 ? 64 : 128;
  int const of_half = row.issuer == Issuer::warpgroup ? 512 : 256, bits = row.stored_bits(row.a);
  if (row.a == Number::f64) return row.arch == 90 ? 32 : 16;
  return bits >= 16 ? of_half * 16 / bits : bits == 8 ? 2 * of_half : bits == 4 ? 4 * of_half : 16 * of_half;
}

/// Returns the descriptor of the operand `part` (A, B or C) of a matrix instruction. n is the type of the operand's
/// elements.
constexpr Instruction::Operand operand_of(MmaRow const& row, MmaPart part, Number n) {
  Instruction::Operand o;
  o.bits = part == MmaPart::c ? bits_of(n) : row.stored_bits(n);
  o.number = n;
  o.layout = operand_layout(row, part);
  bool const group = row.issuer == Issuer::warpgroup;
  if (group && (part == MmaPart::b || (part == MmaPart::a && row.a_from_smem))) {
    o.space = Instruction::Space::smem;
    o.alignment = 16;
    o.swizzles = 0b1111;
    o.majors = o.bits == 16 ? 0b11 : 0b01;
  } else {
    o.space = Instruction::Space::rmem;
    o.registers = (o.layout.value_count() * o.bits / (row.sparse && part == MmaPart::a ? 2 : 1) + 31) / 32;
  }
  return o;
}

}  // namespace detail

/// Returns the complete descriptor of the matrix instruction `row`, except for name, PTX and call, which are unset.
/// The reference body is null for complex matmuls and for instructions of a single thread.
constexpr Instruction instruction_of(MmaRow const& row) {
  bool const group = row.issuer == Issuer::warpgroup;
  int const at_once = detail::products_a_cycle(row) * (group ? 4 : 1);
  Instruction i{};
  i.compute_capability = row.arch;
  i.kind = Instruction::Kind::mma;
  i.issuers = issuing_threads(row.issuer).thread_count();
  i.m = row.m, i.n = row.n, i.k = row.k;
  i.a = detail::operand_of(row, MmaPart::a, row.a);
  i.b = detail::operand_of(row, MmaPart::b, row.b);
  i.c = detail::operand_of(row, MmaPart::c, row.d);
  if (group) i.completion = Instruction::Completion::commit_group;
  i.cycles = (row.m * row.n * row.k + at_once - 1) / at_once;
  i.ending = row.ending;
  i.mma_kind = row.kind;
  i.scale = row.scale, i.scale_block = row.scale_block, i.sparse = row.sparse;
  bool const narrow = row.kind != MmaKind::standard;
  if (row.issuer != Issuer::thread && row.a != Number::c64) i.body = narrow ? reference::narrow_mma : reference::mma;
  i.only_of_its_architecture = group || narrow;
  return i;
}

}  // namespace zellige
