// prefer<N>: ranks overloads. Called with prefer<1>{}, f(x, prefer<1>) is preferred to f(x, prefer<0>) if its
// constraints are satisfied.
#pragma once

namespace zellige {

template <unsigned N>
struct prefer : prefer<N - 1> {};
template <>
struct prefer<0> {};

}  // namespace zellige
