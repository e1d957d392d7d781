// Declares the deleted functions that report invalid layout operations at compile time. Code for an invalid operation
// calls one of them, which is an error. The compiler's message then has the function's name, which states the broken
// rule, with the operation and two numbers as template arguments.
#pragma once
#include <zellige/layout/algebra/operation.hpp>

namespace zellige {

template <auto operation, long long stride, long long extent>
ZELLIGE_HOST_DEVICE void stride_of_the_right_operand_is_not_a_multiple_of_the_extent_it_steps_over() = delete;
template <auto operation, long long extent, long long offered>
ZELLIGE_HOST_DEVICE void extent_of_the_right_operand_is_not_a_multiple_of_what_the_left_mode_offers() = delete;
template <auto operation, long long stride, long long extent>
ZELLIGE_HOST_DEVICE void stride_of_the_right_operand_does_not_divide_the_extent_it_crosses() = delete;
template <auto operation, long long reach, long long extent>
ZELLIGE_HOST_DEVICE void modes_of_the_right_operand_overlap_in_a_mode_of_the_left() = delete;
template <auto operation, long long least_stride, long long greatest_stride>
ZELLIGE_HOST_DEVICE void strides_of_the_right_operand_step_in_opposite_directions() = delete;
template <auto operation, long long modes_of_the_tiler, long long modes_of_the_layout>
ZELLIGE_HOST_DEVICE void the_tiler_has_more_modes_than_the_layout() = delete;
template <auto operation, long long modes, long long allowed>
ZELLIGE_HOST_DEVICE void a_layout_with_a_run_time_stride_has_a_complement_only_if_it_has_one_mode() = delete;
template <auto operation, long long stride, long long covered>
ZELLIGE_HOST_DEVICE void the_layout_is_not_injective_a_stride_is_less_than_what_lies_below_it() = delete;
template <auto operation, long long stride, long long stride_below>
ZELLIGE_HOST_DEVICE void a_stride_is_not_a_multiple_of_the_next_smaller_one() = delete;
template <auto operation, long long reached, long long allowed>
ZELLIGE_HOST_DEVICE void modes_overlap_so_that_an_index_has_no_one_coordinate() = delete;
template <auto operation, long long stride, long long least>
ZELLIGE_HOST_DEVICE void a_stride_is_negative() = delete;
template <auto operation, long long rank, long long other_rank>
ZELLIGE_HOST_DEVICE void ranks_differ() = delete;
template <auto operation, long long rank, long long other_rank>
ZELLIGE_HOST_DEVICE void profiles_differ() = delete;
template <auto operation, long long mode, long long rank>
ZELLIGE_HOST_DEVICE void mode_out_of_range() = delete;
template <auto operation, long long a, long long b>
ZELLIGE_HOST_DEVICE void neither_number_divides_the_other() = delete;
template <auto operation, long long rank_of_block, long long rank_of_target>
ZELLIGE_HOST_DEVICE void the_block_has_more_modes_than_the_target_shape() = delete;
template <auto operation, long long target_extent, long long block_extent>
ZELLIGE_HOST_DEVICE void the_block_does_not_divide_the_target_shape() = delete;
template <auto operation, long long stride, long long factor>
ZELLIGE_HOST_DEVICE void downcast_needs_a_mode_of_stride_1() = delete;
template <auto operation, long long factor>
ZELLIGE_HOST_DEVICE void downcast_needs_a_mode_of_stride_1_and_the_strides_are_run_time_numbers() = delete;
template <auto operation, long long shift, long long other_shift>
ZELLIGE_HOST_DEVICE void swizzles_of_different_shifts_cannot_be_merged() = delete;
template <auto operation, long long bits, long long other_bits>
ZELLIGE_HOST_DEVICE void swizzle_masks_have_different_numbers_of_bits() = delete;
template <auto operation, long long y_mask, long long z_mask>
ZELLIGE_HOST_DEVICE void the_layout_does_not_take_the_swizzle_to_a_swizzle() = delete;
template <auto operation, long long start, long long moved_bits>
ZELLIGE_HOST_DEVICE void the_slice_of_a_swizzled_layout_carries_into_its_bits() = delete;
template <auto operation, long long rank, long long other_rank>
ZELLIGE_HOST_DEVICE void a_coordinate_and_a_number_cannot_be_added() = delete;
template <auto operation>
ZELLIGE_HOST_DEVICE void a_static_number_is_needed_here_in_place_of_a_run_time_number() = delete;
template <auto operation, long long numerator, long long denominator>
ZELLIGE_HOST_DEVICE void division_by_zero() = delete;
template <auto operation>
ZELLIGE_HOST_DEVICE void division_of_a_run_time_number_by_zero() = delete;
template <auto operation, long long x, long long y>
ZELLIGE_HOST_DEVICE void an_operand_is_of_the_wrong_kind() = delete;
template <auto operation, long long operand, long long operands>
ZELLIGE_HOST_DEVICE void an_operand_is_neither_a_layout_nor_a_tuple_nor_an_integer() = delete;
template <auto operation, long long operand, long long operands>
ZELLIGE_HOST_DEVICE void an_operand_is_a_composed_layout_where_an_uncomposed_one_is_needed() = delete;
template <auto operation, long long offset, long long needed>
ZELLIGE_HOST_DEVICE void the_composed_layout_does_not_start_at_offset_0() = delete;
template <auto operation>
ZELLIGE_HOST_DEVICE void the_composed_layout_starts_at_a_run_time_offset_and_not_at_0() = delete;
template <auto operation, long long reached, long long size>
ZELLIGE_HOST_DEVICE void the_left_layout_of_the_composed_block_is_not_injective() = delete;
template <auto operation, long long modes, long long needed>
ZELLIGE_HOST_DEVICE void the_index_is_a_coordinate_where_an_integer_is_needed() = delete;
template <auto operation, long long x, long long y>
ZELLIGE_HOST_DEVICE void the_result_does_not_fit_64_bits() = delete;
template <auto operation, long long x, long long y>
ZELLIGE_HOST_DEVICE void the_result_does_not_fit_32_bits() = delete;
template <auto operation, long long size, long long other_size>
ZELLIGE_HOST_DEVICE void the_operands_differ_in_size() = delete;

// The following functions report errors of tiled copies and of TMA and wgmma descriptors.
template <auto operation, long long threads_of_the_tiled_copy, long long threads_of_the_instruction>
ZELLIGE_HOST_DEVICE void the_tiled_copy_has_too_few_threads_for_its_instruction() = delete;
template <auto operation, long long values_of_the_tiled_copy, long long values_of_the_instruction>
ZELLIGE_HOST_DEVICE void the_tiled_copy_has_too_few_values_for_its_instruction() = delete;
template <auto operation, long long bits_of_the_element, long long bits_of_an_access>
ZELLIGE_HOST_DEVICE void the_instruction_cannot_copy_elements_of_this_type() = delete;
template <auto operation, long long bytes, long long bytes_that_would_do>
ZELLIGE_HOST_DEVICE void cp_async_cannot_copy_so_many_bytes_at_once() = delete;
template <auto operation, long long reached, long long addresses_of_the_data>
ZELLIGE_HOST_DEVICE void the_data_layout_does_not_have_the_addresses_of_the_values() = delete;
template <auto operation, long long step, long long allowed>
ZELLIGE_HOST_DEVICE void the_tile_and_global_memory_have_no_run_of_elements_in_common() = delete;
template <auto operation, long long stride, long long allowed>
ZELLIGE_HOST_DEVICE void the_innermost_mode_of_the_tma_box_is_not_contiguous_in_global_memory() = delete;
template <auto operation, long long stride_in_bits, long long multiple>
ZELLIGE_HOST_DEVICE void a_global_stride_is_not_a_multiple_of_16_bytes() = delete;
template <auto operation, long long extent, long long most>
ZELLIGE_HOST_DEVICE void the_tma_box_is_too_large() = delete;
template <auto operation, long long extent, long long most>
ZELLIGE_HOST_DEVICE void a_global_extent_is_outside_what_tma_can_address() = delete;
template <auto operation, long long extent, long long ctas>
ZELLIGE_HOST_DEVICE void the_multicast_does_not_divide_the_tma_box() = delete;
template <auto operation, long long extent, long long needed>
ZELLIGE_HOST_DEVICE void the_tile_has_not_the_extent_that_the_descriptor_needs() = delete;
template <auto operation, long long stride, long long needed>
ZELLIGE_HOST_DEVICE void the_tile_has_not_the_layout_that_the_descriptor_needs() = delete;

namespace detail {
template <auto op, Rule rule, long long x, long long y>
ZELLIGE_HOST_DEVICE constexpr void refuse() {
  if constexpr (rule == Rule::composition_stride)
    stride_of_the_right_operand_is_not_a_multiple_of_the_extent_it_steps_over<op, x, y>();
  else if constexpr (rule == Rule::composition_extent)
    extent_of_the_right_operand_is_not_a_multiple_of_what_the_left_mode_offers<op, x, y>();
  else if constexpr (rule == Rule::composition_crossing)
    stride_of_the_right_operand_does_not_divide_the_extent_it_crosses<op, x, y>();
  else if constexpr (rule == Rule::composition_overlap)
    modes_of_the_right_operand_overlap_in_a_mode_of_the_left<op, x, y>();
  else if constexpr (rule == Rule::composition_signs)
    strides_of_the_right_operand_step_in_opposite_directions<op, x, y>();
  else if constexpr (rule == Rule::composition_rank)
    the_tiler_has_more_modes_than_the_layout<op, x, y>();
  else if constexpr (rule == Rule::complement_dynamic)
    a_layout_with_a_run_time_stride_has_a_complement_only_if_it_has_one_mode<op, x, y>();
  else if constexpr (rule == Rule::complement_injective)
    the_layout_is_not_injective_a_stride_is_less_than_what_lies_below_it<op, x, y>();
  else if constexpr (rule == Rule::left_inverse_stride)
    a_stride_is_not_a_multiple_of_the_next_smaller_one<op, x, y>();
  else if constexpr (rule == Rule::left_inverse_overlap)
    modes_overlap_so_that_an_index_has_no_one_coordinate<op, x, y>();
  else if constexpr (rule == Rule::negative_stride)
    a_stride_is_negative<op, x, y>();
  else if constexpr (rule == Rule::rank_mismatch)
    ranks_differ<op, x, y>();
  else if constexpr (rule == Rule::profile_mismatch)
    profiles_differ<op, x, y>();
  else if constexpr (rule == Rule::mode_out_of_range)
    mode_out_of_range<op, x, y>();
  else if constexpr (rule == Rule::not_divisible)
    neither_number_divides_the_other<op, x, y>();
  else if constexpr (rule == Rule::tile_rank)
    the_block_has_more_modes_than_the_target_shape<op, x, y>();
  else if constexpr (rule == Rule::tile_extent)
    the_block_does_not_divide_the_target_shape<op, x, y>();
  else if constexpr (rule == Rule::recast_adjacent && x == unknown_number)
    downcast_needs_a_mode_of_stride_1_and_the_strides_are_run_time_numbers<op, y>();
  else if constexpr (rule == Rule::recast_adjacent)
    downcast_needs_a_mode_of_stride_1<op, x, y>();
  else if constexpr (rule == Rule::swizzle_shift)
    swizzles_of_different_shifts_cannot_be_merged<op, x, y>();
  else if constexpr (rule == Rule::swizzle_bits)
    swizzle_masks_have_different_numbers_of_bits<op, x, y>();
  else if constexpr (rule == Rule::swizzle_mask)
    the_layout_does_not_take_the_swizzle_to_a_swizzle<op, x, y>();
  else if constexpr (rule == Rule::swizzle_carry)
    the_slice_of_a_swizzled_layout_carries_into_its_bits<op, x, y>();
  else if constexpr (rule == Rule::basis_sum)
    a_coordinate_and_a_number_cannot_be_added<op, x, y>();
  else if constexpr (rule == Rule::not_static)
    a_static_number_is_needed_here_in_place_of_a_run_time_number<op>();
  else if constexpr (rule == Rule::divide_by_zero && x == unknown_number)
    division_of_a_run_time_number_by_zero<op>();
  else if constexpr (rule == Rule::divide_by_zero)
    division_by_zero<op, x, y>();
  else if constexpr (rule == Rule::not_a_layout)
    an_operand_is_of_the_wrong_kind<op, x, y>();
  else if constexpr (rule == Rule::foreign_operand)
    an_operand_is_neither_a_layout_nor_a_tuple_nor_an_integer<op, x, y>();
  else if constexpr (rule == Rule::composed_operand)
    an_operand_is_a_composed_layout_where_an_uncomposed_one_is_needed<op, x, y>();
  else if constexpr (rule == Rule::composed_offset && x == unknown_number)
    the_composed_layout_starts_at_a_run_time_offset_and_not_at_0<op>();
  else if constexpr (rule == Rule::composed_offset)
    the_composed_layout_does_not_start_at_offset_0<op, x, y>();
  else if constexpr (rule == Rule::composed_overlap)
    the_left_layout_of_the_composed_block_is_not_injective<op, x, y>();
  else if constexpr (rule == Rule::integer_index)
    the_index_is_a_coordinate_where_an_integer_is_needed<op, x, y>();
  else if constexpr (rule == Rule::overflow)
    the_result_does_not_fit_64_bits<op, x, y>();
  else if constexpr (rule == Rule::int_overflow || rule == Rule::int_range)
    the_result_does_not_fit_32_bits<op, x, y>();
  else if constexpr (rule == Rule::copy_threads)
    the_tiled_copy_has_too_few_threads_for_its_instruction<op, x, y>();
  else if constexpr (rule == Rule::copy_values)
    the_tiled_copy_has_too_few_values_for_its_instruction<op, x, y>();
  else if constexpr (rule == Rule::copy_type)
    the_instruction_cannot_copy_elements_of_this_type<op, x, y>();
  else if constexpr (rule == Rule::copy_bytes)
    cp_async_cannot_copy_so_many_bytes_at_once<op, x, y>();
  else if constexpr (rule == Rule::cotiled_address)
    the_data_layout_does_not_have_the_addresses_of_the_values<op, x, y>();
  else if constexpr (rule == Rule::tma_no_run)
    the_tile_and_global_memory_have_no_run_of_elements_in_common<op, x, y>();
  else if constexpr (rule == Rule::tma_major)
    the_innermost_mode_of_the_tma_box_is_not_contiguous_in_global_memory<op, x, y>();
  else if constexpr (rule == Rule::tma_stride)
    a_global_stride_is_not_a_multiple_of_16_bytes<op, x, y>();
  else if constexpr (rule == Rule::tma_box)
    the_tma_box_is_too_large<op, x, y>();
  else if constexpr (rule == Rule::tma_extent)
    a_global_extent_is_outside_what_tma_can_address<op, x, y>();
  else if constexpr (rule == Rule::tma_multicast)
    the_multicast_does_not_divide_the_tma_box<op, x, y>();
  else if constexpr (rule == Rule::gmma_extent)
    the_tile_has_not_the_extent_that_the_descriptor_needs<op, x, y>();
  else if constexpr (rule == Rule::gmma_stride)
    the_tile_has_not_the_layout_that_the_descriptor_needs<op, x, y>();
  else if constexpr (rule == Rule::sizes_differ)
    the_operands_differ_in_size<op, x, y>();
  else
    static_assert(rule == Rule::none, "a rule without a name: refuse<>() lacks it");
}
}  // namespace detail

}  // namespace zellige
