// Shrinks the integers in a system of equations "whole = product of factors": finds small values for which
// all equations hold. Factors each value into primes, lowers the exponent of each prime as far as the equations
// allow, and replaces large primes by small ones. shrink.hpp uses this to shrink the sizes of graphs.
//
//   Products system{.values = {4096, 64, 64}, .fixed = {false, false, false}, .products = {{0, {1, 2}}}};
//   shrink_values(system)      // {4, 2, 2}: value 0 is the product of values 1 and 2
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::number {

/// A system of equations whole = product of factors, over values that are identified by index, with a solution.
struct Products {
  /// values[whole] = product of values[f] over the factors.
  struct Product {
    int whole;
    std::vector<int> factors;
  };
  /// Two values that differ and must stay different.
  struct Inequality {
    int less, more;
  };
  std::vector<std::int64_t> values;  // by index: a solution of the products
  std::vector<bool> fixed;           // by index: the value must not change
  std::vector<Product> products;
  std::vector<Inequality> inequalities;  // pairs of values that must stay different
  // Indices of values that are to stay different. Those that no products connect get different primes as
  // factors, so that neither they nor products of them are equal; but not if values then become too large.
  std::vector<int> distinct;
};

/// Returns small values, by index, for which all products of the system hold. Fixed values are unchanged. The
/// two values of each entry of `inequalities` stay different. A value of 1 stays 1, and no other value becomes 1.
/// Values become larger than given only where that keeps the values in Products::distinct different.
std::vector<std::int64_t> shrink_values(const Products&);

}  // namespace zellige::number
