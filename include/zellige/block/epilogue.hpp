// Epilogues: functors applied to a matmul's accumulators before they are rounded and stored. They take the
// float32 value and its row and column, or a pair of neighbours in a row and the column of the first.
//
//   Identity                                       x
//   Activate<Relu>                                 relu(x)
//   BiasActivate<half_t, GeluTanh>{bias}           gelu(x + bias[n])
//   BiasActivateAdd<half_t, Silu>{bias, r, pitch}  silu(x + bias[n]) + r(m, n)
#pragma once
#include <zellige/atom.hpp>

namespace zellige {

struct Linear {
  ZELLIGE_CALL static float apply(float x) { return x; }
};
struct Relu {
  ZELLIGE_CALL static float apply(float x) { return relu(x); }
};
struct Silu {
  ZELLIGE_CALL static float apply(float x) { return silu(x); }
};
/// GELU in its tanh approximation: x times the sigmoid of twice the tanh's argument.
struct GeluTanh {
  ZELLIGE_CALL static float apply(float x) {
    return x * sigmoid(1.5957691216057308f * x * zellige::fma(0.044715f * x, x, 1.0f));
  }
};

struct Identity {
  ZELLIGE_CALL float operator()(float x, int, int) const { return x; }
  ZELLIGE_CALL Vec<float, 2> operator()(Vec<float, 2> x, int, int) const { return x; }
};
template <class Activation>
struct Activate {
  ZELLIGE_CALL float operator()(float x, int, int) const { return Activation::apply(x); }
  ZELLIGE_CALL Vec<float, 2> operator()(Vec<float, 2> x, int m, int n) const {
    return {{(*this)(x[0], m, n), (*this)(x[1], m, n + 1)}};
  }
};
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
