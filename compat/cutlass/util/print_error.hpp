// Compares results with a reference and prints relative errors.
//
//   return print_relative_error(n, data, reference);            EXIT_SUCCESS within the margin
//   print_matrix_multiply_mollified_relative_error("float", A, B, C, C_expected);
#pragma once
#if __has_include_next(<cutlass/util/print_error.hpp>)
#include_next <cutlass/util/print_error.hpp>
#else
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cute/tensor.hpp>

/// The infinity norm of a matrix, that is the greatest sum of magnitudes along a row, without rows that
/// contain NaN.
struct matrix_inf_norm_result {
  double inf_norm = 0;
  bool found_nan = false;
};

namespace cutlass::detail {
/// Returns the norm of the m x n matrix of element(i, j).
template <class F>
matrix_inf_norm_result norm_of(long long m, long long n, F const& element) {
  matrix_inf_norm_result r;
  for (long long i = 0; i < m; ++i) {
    double row = 0;
    for (long long j = 0; j < n; ++j) row += std::abs(element(i, j));
    if (std::isnan(row))
      r.found_nan = true;
    else if (row > r.inf_norm)
      r.inf_norm = row;
  }
  return r;
}
template <class T>
double as_double(T const& x) {
  if constexpr (requires { double(x); })
    return double(x);
  else
    return double(float(x));
}
}  // namespace cutlass::detail

/// Returns the infinity norm of a rank-2 tensor.
template <class Engine, class Layout>
matrix_inf_norm_result matrix_inf_norm(cute::Tensor<Engine, Layout> const& a) {
  return cutlass::detail::norm_of((long long)(cute::size<0>(a)), (long long)(cute::size<1>(a)),
                                  [&](auto i, auto j) { return cutlass::detail::as_double(a(i, j)); });
}
/// Returns the infinity norm of a - b; NaN, with a message, if their shapes differ.
template <class EngineA, class LayoutA, class EngineB, class LayoutB>
matrix_inf_norm_result matrix_diff_inf_norm(cute::Tensor<EngineA, LayoutA> const& a,
                                            cute::Tensor<EngineB, LayoutB> const& b) {
  if ((long long)(cute::size<0>(a)) != (long long)(cute::size<0>(b)) ||
      (long long)(cute::size<1>(a)) != (long long)(cute::size<1>(b))) {
    std::fprintf(stderr, "matrix_diff_inf_norm: matrices of %lld x %lld and %lld x %lld\n",
                 (long long)(cute::size<0>(a)), (long long)(cute::size<1>(a)), (long long)(cute::size<0>(b)),
                 (long long)(cute::size<1>(b)));
    return {NAN, true};
  }
  return cutlass::detail::norm_of((long long)(cute::size<0>(a)), (long long)(cute::size<1>(a)), [&](auto i, auto j) {
    return cutlass::detail::as_double(a(i, j)) - cutlass::detail::as_double(b(i, j));
  });
}

/// Prints the norms of all matrices and returns |C - reference| / (|A| |B|), which is independent of the
/// magnitude of the operands. Returns |C - reference| if that product is 0.
template <class EA, class LA, class EB, class LB, class EC, class LC, class ER, class LR>
double print_matrix_multiply_mollified_relative_error(char const a_type[], cute::Tensor<EA, LA> const& a,
                                                      char const b_type[], cute::Tensor<EB, LB> const& b,
                                                      char const c_type[], cute::Tensor<EC, LC> const& c,
                                                      cute::Tensor<ER, LR> const& reference) {
  auto const na = matrix_inf_norm(a), nb = matrix_inf_norm(b), nc = matrix_inf_norm(reference);
  auto const off = matrix_diff_inf_norm(c, reference);
  double const scale = na.inf_norm * nb.inf_norm, error = scale == 0 ? off.inf_norm : off.inf_norm / scale;
  auto const say = [](char const* name, char const* type, auto const& x, double norm) {
    std::printf("%s: %lld x %lld of %s, norm %g\n", name, (long long)(cute::size<0>(x)), (long long)(cute::size<1>(x)),
                type, norm);
  };
  say("A", a_type, a, na.inf_norm);
  say("B", b_type, b, nb.inf_norm);
  say("C", c_type, c, nc.inf_norm);
  std::printf("norm of C - reference: %g\n%s error: %g\n", off.inf_norm, scale == 0 ? "absolute" : "relative", error);
  if (na.found_nan || nb.found_nan || nc.found_nan || off.found_nan)
    std::printf("not a number in A: %d, in B: %d, in the reference: %d, in the difference: %d\n", na.found_nan,
                nb.found_nan, nc.found_nan, off.found_nan);
  return error;
}
template <class E, class L>
double print_matrix_multiply_mollified_relative_error(char const type[], cute::Tensor<E, L> const& a,
                                                      cute::Tensor<E, L> const& b, cute::Tensor<E, L> const& c,
                                                      cute::Tensor<E, L> const& reference) {
  return print_matrix_multiply_mollified_relative_error(type, a, type, b, type, c, reference);
}

/// Prints the relative error in the Frobenius norm and the largest difference. Returns EXIT_SUCCESS if the
/// error is within error_margin, EXIT_FAILURE if it is larger or NaN.
template <class T1, class T2>
int print_relative_error(std::size_t n, T1 const& data, T2 const& reference, bool print_verbose = false,
                         bool print_error = true, double error_margin = 0.00001) {
  double off = 0, size = 0, worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double const x = cutlass::detail::as_double(data[i]), r = cutlass::detail::as_double(reference[i]), d = x - r;
    off += d * d;
    size += r * r;
    if (!(std::abs(d) <= worst)) worst = std::abs(d), at = i;
    if (print_verbose) std::printf("%zu: %g, reference %g\n", i, x, r);
  }
  double const error = size > 0 ? std::sqrt(off / size) : std::sqrt(off);
  if (print_error) std::printf("relative error %g; the largest difference is %g, at element %zu\n", error, worst, at);
  return error <= error_margin ? EXIT_SUCCESS : EXIT_FAILURE;
}
template <class Engine, class Layout>
int print_relative_error(cute::Tensor<Engine, Layout> const& data, cute::Tensor<Engine, Layout> const& reference,
                         bool print_verbose = false, bool print_error = true, double error_margin = 0.00001) {
  return print_relative_error(std::size_t(cute::size(data)), data, reference, print_verbose, print_error, error_margin);
}
#endif
