// Lists the rules of layout operations, with an error message for each; an operation that breaks a rule is refused. A
// refusal carries two numbers x and y for its message; the comments at the enumerators say what x and y are.
#pragma once
#include <zellige/layout/config.hpp>

namespace zellige {

/// The reason of a refusal.
enum class Rule : signed char {
  none,
  composition_stride,    // x: stride, y: extent of the left mode
  composition_extent,    // x: remaining extent of the right mode, y: extent of the left mode
  composition_crossing,  // x: stride, y: extent of the left mode that the right mode crosses
  composition_overlap,   // x: largest step that the right modes take together, y: extent of the left mode
  composition_signs,     // x: the smallest stride, y: the largest
  composition_rank,      // x: modes of the tiler, y: modes of the layout
  complement_dynamic,    // x: modes of the layout, y: 1, the maximum
  complement_injective,  // x: stride, y: the size covered by the modes below it
  left_inverse_stride,   // x: stride, y: the next smaller stride
  /// x: largest index that the modes below reach, y: extent times stride of the topmost of them
  left_inverse_overlap,
  negative_stride,    // x: stride, y: 0
  rank_mismatch,      // x, y: the ranks
  profile_mismatch,   // x, y: the ranks at which the profiles differ
  mode_out_of_range,  // x: mode, y: rank
  not_divisible,      // x, y: two numbers of which neither divides the other
  tile_rank,          // x: rank of the block, y: rank of the target
  tile_extent,        // x: extent of the target, y: extent of the block
  recast_adjacent,    // x: stride, y: factor
  swizzle_shift,      // x, y: the shifts
  swizzle_bits,       // x, y: the numbers of bits of the two masks
  swizzle_mask,       // x, y: the masks
  swizzle_carry,      // x: index where the slice starts, y: the bits that the slice moves
  basis_sum,          // x, y: the ranks of the summands
  not_static,         // x: the value, or unknown_number, y: 0
  divide_by_zero,     // x: numerator, y: 0
  not_a_layout,       // x, y: the operation or kinds of the operands, as numbers
  foreign_operand,    // x: the operand's number, counted from 1, y: the number of operands
  composed_operand,   // x: the operand's number, counted from 1, y: the number of operands
  composed_offset,    // x: the offset, y: 0
  composed_overlap,   // x: indices reached, y: size of the left layout of the composed one
  integer_index,      // x: modes of the coordinate, y: 1
  overflow,           // x, y: the operands of the sum or product
  int_overflow,       // x, y: the operands of a sum or product of ints
  int_range,          // x: a number, y: the largest int
  sizes_differ,       // x, y: the sizes of two tensors
  copy_threads,       // x: threads of the tiled copy, y: threads of its instruction
  copy_values,        // x: values per thread of the tiled copy, y: of its instruction
  copy_type,          // x: bits of an element, y: bits of an access
  copy_bytes,         // x: bytes asked for, y: a number of bytes that is valid
  cotiled_address,    // x: address that the values reach, y: number of addresses of the data
  tma_no_run,         // x: stride of the tile in a mode of the global tensor, y: 1
  tma_major,          // x: stride of the box's innermost mode in global memory, y: 1
  tma_stride,         // x: global stride in bits, y: the required divisor in bits
  tma_box,            // x: extent of the TMA box, y: 256, the maximum
  tma_extent,         // x: extent of the global tensor, y: the maximum
  tma_multicast,      // x: extent of the box, y: CTAs of the multicast
  gmma_extent,        // x: extent of the tile, y: the extent that the wgmma descriptor needs
  gmma_stride,        // x: stride of the tile, y: the stride that the wgmma descriptor needs
};

/// In place of a number of a refusal: it is known only at run time.
inline constexpr long long unknown_number = -9223372036854775807LL - 1;

/// Returns the message of a rule: one sentence, in which the caller replaces {x} and {y} by the two numbers
/// of a refusal.
ZELLIGE_ALGEBRA constexpr char const* sentence(Rule rule) {
  switch (rule) {
    case Rule::none:
      return "";
    case Rule::composition_stride:
      return "stride {x} of the right operand is not a multiple of extent {y} of the mode of the left "
             "operand that it "
             "steps over (stride divisibility)";
    case Rule::composition_extent:
      return "extent {x} of the right operand is not a multiple of the {y} elements that the mode of the "
             "left operand "
             "offers it (shape divisibility)";
    case Rule::composition_crossing:
      return "stride {x} of the right operand does not divide extent {y} of the mode of the left operand "
             "that it "
             "crosses";
    case Rule::composition_overlap:
      return "the modes of the right operand together reach element {x} of a mode of the left operand whose "
             "extent is "
             "{y}: they overlap";
    case Rule::composition_signs:
      return "strides {x} and {y} of the right operand step in opposite directions";
    case Rule::composition_rank:
      return "the tiler has {x} modes and the layout only {y}";
    case Rule::complement_dynamic:
      return "a layout of {x} modes has a run-time stride; with one, only {y} mode has a complement";
    case Rule::complement_injective:
      return "stride {x} is less than the {y} that the modes below it already cover: the layout is not "
             "injective";
    case Rule::left_inverse_stride:
      return "stride {x} is not a multiple of the next smaller stride {y}";
    case Rule::left_inverse_overlap:
      return "the modes below reach index {x}, beyond the {y} that are distinct from the mode above";
    case Rule::negative_stride:
      return "stride {x} is negative; it must be at least {y}";
    case Rule::rank_mismatch:
      return "the ranks {x} and {y} differ";
    case Rule::profile_mismatch:
      return "the profiles differ: {x} modes against {y}";
    case Rule::mode_out_of_range:
      return "mode {x} is asked for, of a rank of {y}";
    case Rule::not_divisible:
      return "{x} and {y}: neither divides the other";
    case Rule::tile_rank:
      return "the block has {x} modes, more than the {y} of the target shape";
    case Rule::tile_extent:
      return "the target extent {x} is not a multiple of the block's {y}";
    case Rule::recast_adjacent:
      return "stride {x} is neither 1 nor a multiple of the factor {y}, or elements are not adjacent";
    case Rule::swizzle_shift:
      return "swizzles of shifts {x} and {y} cannot be merged";
    case Rule::swizzle_bits:
      return "the masks have {x} and {y} bits; the numbers must be equal";
    case Rule::swizzle_mask:
      return "no swizzle has the masks {x} and {y}: the same number of adjacent bits in each, none in both";
    case Rule::swizzle_carry:
      return "the slice of a swizzled layout starts at index {x} and moves the bits {y}: they would carry";
    case Rule::basis_sum:
      return "elements of ranks {x} and {y} belong to different modules and cannot be added";
    case Rule::not_static:
      return "a static number is needed where {x} is known at run time only";
    case Rule::divide_by_zero:
      return "{x} is divided by {y}";
    case Rule::not_a_layout:
      return "an operand is of the wrong kind ({x}, {y})";
    case Rule::foreign_operand:
      return "operand {x} of {y} is neither a layout, nor a tuple, nor an integer";
    case Rule::composed_operand:
      return "operand {x} of {y} is a composed layout, and the operation takes only uncomposed layouts there";
    case Rule::composed_offset:
      return "the composed layout starts at offset {x}; the operation needs one that starts at {y}";
    case Rule::composed_overlap:
      return "the copies reach {x} indices, on which the left layout of the composed one, of size {y}, is "
             "not "
             "known to be injective: they would overlap";
    case Rule::integer_index:
      return "the index is a coordinate of {x} modes, where an integer is needed";
    case Rule::sizes_differ:
      return "tensors of sizes {x} and {y}: they must be the same";
    case Rule::copy_threads:
      return "the tiled copy has {x} threads, which is not a multiple of the {y} of its instruction";
    case Rule::copy_values:
      return "the tiled copy has {x} values a thread, which is not a multiple of the {y} of its instruction";
    case Rule::copy_type:
      return "elements of {x} bits cannot be copied by an instruction whose threads hold runs of {y} bits";
    case Rule::copy_bytes:
      return "cp.async cannot copy {x} bytes at once; {y} would do";
    case Rule::cotiled_address:
      return "the values of the threads reach address {x}, which the data of {y} addresses do not have";
    case Rule::tma_no_run:
      return "the first elements of the shared-memory tile step by {x} through a mode of the global tensor; "
             "they must step by {y}";
    case Rule::tma_major:
      return "the innermost mode of the TMA box has stride {x} in global memory; it must be {y}: shared and "
             "global memory differ in their major mode";
    case Rule::tma_stride:
      return "a global stride of {x} bits is not a multiple of {y} bits (16 bytes)";
    case Rule::tma_box:
      return "the TMA box has an extent of {x}; at most {y} elements are possible";
    case Rule::tma_extent:
      return "the global extent {x} is outside 1 to {y}";
    case Rule::tma_multicast:
      return "the box extent {x} and the {y} CTAs of the multicast do not divide each other";
    case Rule::gmma_extent:
      return "the tile has extent {x} along K in 16-byte units or elements; the descriptor needs {y}";
    case Rule::gmma_stride:
      return "the tile has stride {x}, in units of 16 bytes, where the descriptor needs {y}";
    case Rule::overflow:
      return "the result of {x} and {y} does not fit 64 bits";
    case Rule::int_overflow:
      return "the result of {x} and {y} does not fit the 32 bits of an int; an int64_t among the numbers makes it one "
             "of 64 bits";
    case Rule::int_range:
      return "the result {x} does not fit an int, whose largest value is {y}; an int64_t among the numbers makes it "
             "one "
             "of 64 bits";
  }
  return "";
}

/// A broken rule with its two numbers; false (Rule::none) if no rule is broken.
struct Refusal {
  Rule rule = Rule::none;
  long long x = 0;
  long long y = 0;
  ZELLIGE_ALGEBRA constexpr explicit operator bool() const { return rule != Rule::none; }
};

}  // namespace zellige
