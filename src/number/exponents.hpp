// Shrinks the integers in a system of equations "whole = product of factors": finds small values for which
// all equations hold. Each value is factored into primes, and for each prime the exponents are minimised.
// shrink.hpp uses this to shrink the sizes of graphs.
//
//   Products system{.values = {4096, 64, 64}, .fixed = {false, false, false}, .products = {{0, {1, 2}}}};
//   shrink_values(system)      // {4, 2, 2}: value 0 is the product of values 1 and 2
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::search {

/// A system of equations whole = product of factors, over values that are identified by index, with a
/// solution.
struct Products {
  /// values[whole] = product of values[f] over the factors.
  struct Product {
    int whole;
    std::vector<int> factors;
  };
  /// Two values that differ and must stay different.
  struct Order {
    int less, more;
  };
  std::vector<std::int64_t> values;  // by index: a solution of the products
  std::vector<bool> fixed;           // by index: the value must not change
  std::vector<Product> products;
  std::vector<Order> orders;  // pairs of values that must stay different
  // If not empty: values, by index, of which those that no products connect get primes of their own, so that
  // neither they nor products of them are equal, unless values then become too large.
  std::vector<int> apart;
};

/// Returns small values for which all products hold. Fixed values are unchanged, and values that an order
/// lists as different stay different. A value of 1 stays 1, and no other value becomes 1. None becomes larger
/// unless `apart` requires it.
std::vector<std::int64_t> shrink_values(const Products&);

}  // namespace zellige::search
