// (thread, value) layouts, evaluated: which thread holds which element of a context's domain.
#pragma once
#include <functional>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// One instruction of one warp: where each of its 32 lanes starts; an empty coordinate is an idle lane. Each lane covers
/// `vector` elements along dimension `inner`.
struct WarpAccess {
  std::vector<Shape> lanes;
};
struct Sweep {
  std::vector<WarpAccess> accesses;
  int inner = 0, vector = 1;
};

/// How a context walks its domain; for `lanes`, the *operand* of the reduction. At most `limit` accesses, spread over warps.
Sweep walk(const Context&, int threads, int limit = 1 << 30);

/// Every element that a thread of a sweep, or of lanes (of the reduction's *operand*), holds, past the shape too where
/// the context passes it.
void for_each_held(const Context&, int threads, const std::function<void(int thread, const Shape& at)>&);

/// The thread that holds each element of `shape` (row-major), -1 where none or several do.
std::vector<int> owners(const Context&, int threads, const Shape& shape);

/// A sweep context: chunks of `vector` along `inner`, then the other dimensions in row-major order (last fastest).
Context sweep_context(const Shape& domain, int inner, int vector);

/// Whether an element is one of `shape`, and not past it.
bool inside(const Shape& at, const Shape& shape);

/// Of coordinates the linear index, last dimension fastest, and back.
using graph::coordinates;
std::int64_t linear(const Shape& at, const Shape& shape);

std::string print(const Context&);

}  // namespace zellige::plan
