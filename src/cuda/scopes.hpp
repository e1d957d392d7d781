// Finds the bodies of functions in a source, and which are those of kernels.
#pragma once
#include <string_view>
#include <vector>

#include "cuda/tokens.hpp"

namespace zellige::cuda {

/// The function bodies of a source.
class Scopes {
 public:
  explicit Scopes(const std::vector<SourceToken>&);

  /// Returns whether token i is in the body of a function, or of one that begins with __global__ or __device__ and is no
  /// function of the host, too.
  bool in_function(std::size_t i) const { return body_of(i) != nullptr; }
  bool in_kernel(std::size_t i) const {
    const Body* const b = body_of(i);
    return b && b->kernel;
  }
  /// Returns the opening braces of the functions after token `from` that name a word.
  std::vector<std::size_t> functions_that_name(const std::vector<SourceToken>&, std::string_view word,
                                               std::size_t from) const;

 private:
  /// A body: its braces.
  struct Body {
    std::size_t open, close;
    bool kernel;
  };
  const Body* body_of(std::size_t i) const {
    for (const Body& b : bodies_)
      if (b.open < i && i < b.close) return &b;
    return nullptr;
  }
  std::vector<Body> bodies_;
};

}  // namespace zellige::cuda
