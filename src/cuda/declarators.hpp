// Takes a declaration of variables apart: `float a[4], *b` declares a and b, of type float.
#pragma once
#include <string>
#include <vector>

#include "cuda/tokens.hpp"

namespace zellige::cuda {

/// One variable of a declaration.
struct Declarator {
  std::string type;  // without its * and &, and without storage classes and alignment
  std::string name;
  std::string full;        // `alignas(16) float *a[4]`: a declaration of it alone
  bool unbounded = false;  // name[]
  std::string bounds;      // after the []: "[8][4]" of name[][8][4]
};

/// Returns the variables that the tokens declare: those from `first` up to, but without, `last`. Skips CUDA's and C++'s
/// words of storage.
std::vector<Declarator> declarators(const std::vector<SourceToken>&, std::size_t first, std::size_t last);

}  // namespace zellige::cuda
