// Reports invalid arguments of the algorithms on tensors. An error in static numbers is reported at compile time, by a
// call of a deleted function whose name states the error, with the algorithm and two numbers as template arguments. An
// error in run-time numbers is a LayoutError on the host, unless ZELLIGE_CHECK is 0, and a trap on the device if
// ZELLIGE_CHECK is 1.
#pragma once
#include <zellige/layout/check.hpp>

namespace zellige {

/// The algorithms that error messages name.
enum class Algorithm : signed char {
  copy,
  copy_if,
  gemm,
  fill,
  clear,
  axpby,
  for_each,
  transform,
  reduce,
  batch_reduce,
  logical_reduce,
  recast,
  prefetch,
  cooperative_copy,
  cooperative_gemm,
  make_tensor,
  local_tile,
  local_partition,
  make_zip_tensor,
};

template <Algorithm algorithm, long long size, long long other_size>
ZELLIGE_HOST_DEVICE constexpr void sizes_differ_in_a_mode() = delete;
template <Algorithm algorithm, int rank, int other_rank>
ZELLIGE_HOST_DEVICE constexpr void tensors_differ_in_rank() = delete;
template <Algorithm algorithm, long long rows_of_A, long long rows_of_C>
ZELLIGE_HOST_DEVICE constexpr void sizes_differ_A_and_C_have_other_rows_are_A_and_B_swapped() = delete;
template <Algorithm algorithm, long long rows_of_B, long long columns_of_C>
ZELLIGE_HOST_DEVICE constexpr void sizes_differ_B_has_other_rows_than_C_has_columns() = delete;
template <Algorithm algorithm, long long depth_of_A, long long depth_of_B>
ZELLIGE_HOST_DEVICE constexpr void sizes_differ_A_and_B_have_other_depths() = delete;
template <Algorithm algorithm, int rank_of_A, int rank_of_B, int rank_of_C>
ZELLIGE_HOST_DEVICE constexpr void no_product_of_such_ranks_needed_are_111_112_222_223_or_333() = delete;
template <Algorithm algorithm, int rank_of_A, int rank_of_B, int rank_of_C>
ZELLIGE_HOST_DEVICE constexpr void no_product_of_such_ranks_needed_are_222() = delete;
template <Algorithm algorithm, int bits_of_a_store, int bits_of_a_byte>
ZELLIGE_HOST_DEVICE constexpr void two_threads_would_write_parts_of_one_byte() = delete;
template <Algorithm algorithm, int bits_of_the_layout, int bits_of_the_element>
ZELLIGE_HOST_DEVICE constexpr void the_swizzled_layout_is_for_elements_of_another_size() = delete;
template <Algorithm algorithm, int modes_of_the_tiler, int modes_of_the_tensor>
ZELLIGE_HOST_DEVICE constexpr void the_tiler_has_more_modes_than_the_tensor() = delete;
template <Algorithm algorithm, int modes_of_the_coordinate, int modes_of_the_tiles>
ZELLIGE_HOST_DEVICE constexpr void the_coordinate_has_more_modes_than_there_are_tiled_ones() = delete;

namespace detail {
#if !defined(__CUDACC_RTC__)
/// Returns the name of the algorithm, for error messages.
constexpr char const* name_of(Algorithm a) {
  constexpr char const* names[] = {"copy",
                                   "copy_if",
                                   "gemm",
                                   "fill",
                                   "clear",
                                   "axpby",
                                   "for_each",
                                   "transform",
                                   "reduce",
                                   "batch_reduce",
                                   "logical_reduce",
                                   "recast",
                                   "prefetch",
                                   "cooperative_copy",
                                   "cooperative_gemm",
                                   "make_tensor",
                                   "local_tile",
                                   "local_partition",
                                   "make_zip_tensor"};
  return names[int(a)];
}
/// Throws LayoutError with the message "algorithm: text", where {x} and {y} in the text are replaced by the
/// numbers.
[[noreturn]] inline void throw_broken(Algorithm a, char const* text, long long x, long long y) {
  char line[300];
  int n = 0;
  auto put = [&](char c) {
    if (n + 1 < int(sizeof line)) line[n++] = c;
  };
  auto put_text = [&](char const* s) {
    for (; *s != 0; ++s) put(*s);
  };
  auto put_number = [&](long long v) {
    unsigned long long u = v < 0 ? 0ULL - static_cast<unsigned long long>(v) : static_cast<unsigned long long>(v);
    char digits[24];
    int d = 0;
    do digits[d++] = char('0' + u % 10);
    while ((u /= 10) != 0);
    if (v < 0) put('-');
    while (d > 0) put(digits[--d]);
  };
  put_text(name_of(a));
  put_text(": ");
  for (char const* s = text; *s != 0; ++s) {
    if (s[0] == '{' && s[1] != 0 && s[2] == '}') {
      put_number(s[1] == 'x' ? x : y);
      s += 2;
    } else {
      put(*s);
    }
  }
  line[n] = 0;
  throw LayoutError(line, {Rule::sizes_differ, x, y});
}
#endif

/// Reports that a check of algorithm a failed at run time: throws LayoutError with the text on the host,
/// traps on the device. The numbers x and y replace {x} and {y} in the text.
ZELLIGE_HOST_DEVICE inline void broken(Algorithm a, char const* text, long long x, long long y) {
#if defined(__CUDA_ARCH__)
  (void)a, (void)text, (void)x, (void)y;
  __trap();
#else
  throw_broken(a, text, x, y);
#endif
}

/// True if both numbers are static and differ; such a call is refused at compile time.
template <class A, class B>
inline constexpr bool clash = false;
template <auto a, auto b>
inline constexpr bool clash<C<a>, C<b>> = a != b;

/// Calls broken() with the text, a and b, unless a and b are equal. Does nothing if both are static: these
/// are compared at compile time.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr void check_same([[maybe_unused]] Algorithm algorithm, [[maybe_unused]] char const* text,
                                              [[maybe_unused]] A const& a, [[maybe_unused]] B const& b) {
#if ZELLIGE_CHECK
  if constexpr (!(is_static_integer_v<A> && is_static_integer_v<B>)) {
    if (static_cast<long long>(a) != static_cast<long long>(b))
      broken(algorithm, text, static_cast<long long>(a), static_cast<long long>(b));
  }
#endif
}
}  // namespace detail

}  // namespace zellige
