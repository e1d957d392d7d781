// Products of matrices, as cuBLAS gives them to programs. Operands and results are checked as copies are: they must lie in
// memory of the device and be written. A product is accumulated in float, or in double if a matrix is of double or of integers.
#include <fmt/format.h>

#include <cmath>

#include "cuda/ptx_machine.hpp"
#include "zellige/cuda/runtime.hpp"

namespace zellige::cuda {

namespace {

using emulate::Site;

// Returns the type that a cudaDataType_t names; of kind none if products have no such matrices.
PtxType type_of(int data_type) {
  using Kind = PtxType::Kind;
  switch (data_type) {
    case 0:
      return {Kind::real, 32};
    case 1:
      return {Kind::real, 64};
    case 2:
      return {Kind::real, 16};
    case 3:
      return {Kind::integer, 8};
    case 10:
      return {Kind::integer, 32};
    case 14:
      return {Kind::brain, 16};
    case 28:
      return {Kind::e4m3, 8};
    case 29:
      return {Kind::e5m2, 8};
    default:
      return {};
  }
}

std::uint64_t raw(const unsigned char* p, unsigned bytes) {
  std::uint64_t x = 0;
  std::memcpy(&x, p, bytes);
  return x;
}

/// A matrix of the program by columns, of which elements are read and written in one call.
struct ProgramMatrix {
  const unsigned char* p;
  PtxType type;
  std::size_t rows, columns, pitch;  // pitch: elements between columns

  // Reads the matrix; returns whether all of it may be read.
  template <class T>
  bool read(std::vector<T>& out, Site site) const {
    const unsigned size = type.bytes();
    std::vector<unsigned char> bytes(rows * columns * size);
    if (checked_copy(bytes.data(), 0, p, pitch * size, rows * size, columns, cudaMemcpyDeviceToHost, "cuBLAS", site) !=
        cudaSuccess)
      return false;
    out.resize(rows * columns);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint64_t x = raw(&bytes[i * size], size);
      out[i] = T(type.is_float() ? ptx_widen(type, x) : double(ptx_signed(x, type.bits)));
    }
    return true;
  }
  template <class T>
  bool write(const std::vector<T>& in, Site site) const {
    const unsigned size = type.bytes();
    std::vector<unsigned char> bytes(rows * columns * size);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::uint64_t x =
          type.is_float() ? ptx_round(type, double(in[i])) : std::uint64_t(std::int64_t(std::nearbyint(double(in[i]))));
      std::memcpy(&bytes[i * size], &x, size);
    }
    return checked_copy(const_cast<unsigned char*>(p), pitch * size, bytes.data(), 0, rows * size, columns,
                        cudaMemcpyHostToDevice, "cuBLAS", site) == cudaSuccess;
  }
};

template <class T>
void transpose(std::vector<T>& x, std::size_t rows, std::size_t columns) {
  std::vector<T> transposed(x.size());
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i) transposed[i * columns + j] = x[j * rows + i];
  x = std::move(transposed);
}

// c (m x n) += a (m x k) b (k x n), all by columns.
template <class T>
void multiply_columns(std::vector<T>& c, const std::vector<T>& a, const std::vector<T>& b, std::size_t m, std::size_t n,
                      std::size_t k) {
  for (std::size_t j = 0; j < n; ++j) {
    T* const to = &c[j * m];
    for (std::size_t l = 0; l < k; ++l) {
      const T factor = b[j * k + l];
      const T* const column = &a[l * m];
      for (std::size_t i = 0; i < m; ++i) to[i] += column[i] * factor;
    }
  }
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
double gelu_slope(double x) {
  const double inner = 0.7978845608028654 * (x + 0.044715 * x * x * x), t = std::tanh(inner);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

// Applies what a product of cublasLt does last: adds the bias of each row, then the function of each element.
template <class T>
bool finish(std::vector<T>& d, const MatrixProduct& p, Site site) {
  const std::size_t m = p.m, n = p.n;
  if (p.bias.p) {
    std::vector<T> bias;
    if (!ProgramMatrix{static_cast<const unsigned char*>(p.bias.p), type_of(p.bias.type), m, 1, m}.read(bias, site))
      return false;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] += bias[i % m];
  }
  std::vector<T> before;
  const ProgramMatrix aux{static_cast<const unsigned char*>(p.aux.p), type_of(p.aux.type), m, n,
                          std::size_t(p.aux.pitch)};
  using Function = MatrixProduct::Function;
  if (p.function == Function::gelu_slope && !aux.read(before, site)) return false;
  if (p.function == Function::gelu && p.aux.p && !aux.write(d, site)) return false;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (p.function == Function::relu) d[i] = d[i] < 0 ? T(0) : d[i];
    if (p.function == Function::gelu) d[i] = T(gelu(double(d[i])));
    if (p.function == Function::gelu_slope) d[i] = T(double(d[i]) * gelu_slope(double(before[i])));
  }
  return true;
}

// Computes product `at` of a batch; returns whether its matrices are in order.
template <class T>
bool multiply_one(const MatrixProduct& p, std::size_t at, Site site) {
  const std::size_t m = p.m, n = p.n, k = p.k;
  const auto matrix = [at](const MatrixProduct::Operand& o, std::size_t rows, std::size_t columns) {
    const PtxType t = type_of(o.type);
    return ProgramMatrix{static_cast<const unsigned char*>(o.p) + std::ptrdiff_t(at) * o.stride * t.bytes(), t, rows,
                         columns, std::size_t(o.pitch)};
  };
  std::vector<T> a, b, before, d(m * n);
  if (!matrix(p.a, p.transpose_a ? k : m, p.transpose_a ? m : k).read(a, site) ||
      !matrix(p.b, p.transpose_b ? n : k, p.transpose_b ? k : n).read(b, site))
    return false;
  if (p.transpose_a) transpose(a, k, m);
  if (p.transpose_b) transpose(b, n, k);
  multiply_columns(d, a, b, m, n, k);
  for (T& x : d) x *= T(p.alpha);
  if (p.beta != 0) {
    if (!matrix(p.c, m, n).read(before, site)) return false;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] += T(p.beta) * before[i];
  }
  return finish(d, p, site) && matrix(p.d, m, n).write(d, site);
}

int multiply(const MatrixProduct& p) {
  const Site site = ZELLIGE_SITE();
  bool wide = false;
  for (const MatrixProduct::Operand* o : {&p.a, &p.b, &p.c, &p.d}) {
    const PtxType t = type_of(o->type);
    if (t.kind == PtxType::Kind::none) {
      session().report_host("not supported", site,
                            fmt::format("cuBLAS at \1: no product of matrices of data type {} is known", o->type));
      return MatrixProduct::not_supported;
    }
    wide |= !t.is_float() || t.bits == 64;
  }
  if (p.m < 0 || p.n < 0 || p.k < 0) return MatrixProduct::invalid;
  const auto too_narrow = [](const MatrixProduct::Operand& o, int rows) { return o.pitch < std::max(1, rows); };
  if (too_narrow(p.a, p.transpose_a ? p.k : p.m) || too_narrow(p.b, p.transpose_b ? p.n : p.k) ||
      too_narrow(p.d, p.m)) {
    session().report_host("invalid argument", site,
                          "cuBLAS at \1: a leading dimension is smaller than its matrix has rows");
    return MatrixProduct::invalid;
  }
  for (int at = 0; at < p.batch; ++at)
    if (!(wide ? multiply_one<double>(p, std::size_t(at), site) : multiply_one<float>(p, std::size_t(at), site)))
      return MatrixProduct::invalid;
  return 0;
}

}  // namespace

void add_blas_calls(Host& all) { all.multiply = multiply; }

}  // namespace zellige::cuda
