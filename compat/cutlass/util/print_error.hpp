// print_relative_error(n, data, reference): how far results lie from what they should be.
#pragma once
#include <cmath>
#include <cstdio>
#include <cute/config.hpp>

/// |data - reference| / |reference|, or, of scalars near 0, the difference itself.
template <class T>
double relative_error(T const& x, T const& reference) {
  double const off = std::abs(double(x) - double(reference)), size = std::abs(double(reference));
  return size > 1e-12 ? off / size : off;
}
/// The relative error of the two in the Frobenius norm, printed where wanted.
template <class T1, class T2>
double print_relative_error(std::size_t n, T1 const& data, T2 const& reference, bool print_verbose = false,
                            bool print_error = true) {
  double off = 0, size = 0, worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double const x = double(data[i]), r = double(reference[i]), d = x - r;
    off += d * d;
    size += r * r;
    if (std::abs(d) > worst) worst = std::abs(d), at = i;
    if (print_verbose) std::printf("%zu: %g, reference %g\n", i, x, r);
  }
  double const error = size > 0 ? std::sqrt(off / size) : std::sqrt(off);
  if (print_error)
    std::printf("relative error %g; the largest difference is %g, at element %zu\n", error, worst, at);
  return error;
}
