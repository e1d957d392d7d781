// Small numbers that keep a system of products: every value as a product of primes, and for each prime the
// least exponents under which all products still hold.
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
  std::vector<std::int64_t> values;  // as given: the products hold for them
  std::vector<bool> fixed;           // must stay as given
  std::vector<Product> products;
  std::vector<Order> orders;  // two values that differ, and are to differ still
};

/// A value of 1 stays 1, and no other becomes 1.
std::vector<std::int64_t> shrink_values(const Products&);

}  // namespace zellige::search
