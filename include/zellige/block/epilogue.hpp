// Defines epilogues: functors that a kernel applies to a matmul's accumulators before it rounds and stores them. The
// arguments are a float32 accumulator x, its row m and its column n, or a pair of accumulators, (m, n) and (m, n + 1).
//
//   Identity                                       x
//   Activate<Relu>                                 relu(x)
//   BiasActivate<half_t, GeluTanh>{bias}           gelu(x + bias[n])
//   BiasActivateAdd<half_t, Silu>{bias, r, pitch}  silu(x + bias[n]) + r(m, n)
#pragma once
#include <zellige/atom.hpp>

namespace zellige {

/// The activation that returns its argument.
struct Linear {
  ZELLIGE_CALL static float apply(float x) { return x; }
};
struct Relu {
  ZELLIGE_CALL static float apply(float x) { return relu(x); }
};
struct Silu {
  ZELLIGE_CALL static float apply(float x) { return silu(x); }
};
/// The tanh approximation of GELU.
struct GeluTanh {
  ZELLIGE_CALL static float apply(float x) { return gelu_tanh(x); }
};

/// Epilogue that returns the accumulator unchanged.
struct Identity {
  ZELLIGE_CALL float operator()(float x, int, int) const { return x; }
  ZELLIGE_CALL Vec<float, 2> operator()(Vec<float, 2> x, int, int) const { return x; }
};
/// Epilogue that applies an activation, such as Relu: returns Activation::apply(x).
template <class Activation>
struct Activate {
  ZELLIGE_CALL float operator()(float x, int, int) const { return Activation::apply(x); }
  ZELLIGE_CALL Vec<float, 2> operator()(Vec<float, 2> x, int m, int n) const {
    return {{(*this)(x[0], m, n), (*this)(x[1], m, n + 1)}};
  }
};
/// Epilogue that adds a bias and applies an activation: returns Activation::apply(x + bias[n]) for column n.
template <class T, class Activation = Linear>
struct BiasActivate {
  gmem<const T> bias;
  ZELLIGE_CALL float operator()(float x, int, int n) const {
    return Activation::apply(x + static_cast<float>(load_once<1>(bias + n)[0]));
  }
  ZELLIGE_CALL Vec<float, 2> operator()(Vec<float, 2> x, int m, int n) const {
    return {{(*this)(x[0], m, n), (*this)(x[1], m, n + 1)}};
  }
};
/// Epilogue with bias, activation and residual: returns Activation::apply(x + bias[n]) + residual[m * pitch + n] for
/// row m and column n. `pitch` is in elements.
template <class T, class Activation = Linear>
struct BiasActivateAdd {
  gmem<const T> bias, residual;
  int64_t pitch;
  ZELLIGE_CALL float operator()(float x, int m, int n) const {
    return Activation::apply(x + static_cast<float>(load_once<1>(bias + n)[0])) +
           static_cast<float>(load_once<1>(residual + m * pitch + n)[0]);
  }
  ZELLIGE_CALL Vec<float, 2> operator()(Vec<float, 2> x, int m, int n) const {
    return {{(*this)(x[0], m, n), (*this)(x[1], m, n + 1)}};
  }
};

}  // namespace zellige
