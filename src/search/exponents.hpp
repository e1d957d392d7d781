// Finds small numbers that satisfy a system of products: factors every value into primes, and for each prime
// finds the least exponents under which all products still hold.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::search {

struct Products {
  struct Product {
    int whole;
    std::vector<int> factors;
  };
  struct Order {
    int less, more;
  };
  std::vector<std::int64_t> values;  // the given values, for which the products hold
  std::vector<bool> fixed;           // must not change
  std::vector<Product> products;
  std::vector<Order> orders;  // pairs of different values that must stay different
};

/// A value of 1 stays 1, and no other becomes 1.
std::vector<std::int64_t> shrink_values(const Products&);

}  // namespace zellige::search
