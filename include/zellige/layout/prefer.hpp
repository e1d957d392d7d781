// prefer<N>: overloads in an order of preference. Called with prefer<1>{}, f(x, prefer<1>) is taken before
// f(x, prefer<0>), if its constraints allow it.
#pragma once

namespace zellige {

template <unsigned N>
struct prefer : prefer<N - 1> {};
template <>
struct prefer<0> {};

}  // namespace zellige
