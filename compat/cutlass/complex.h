// Complex numbers under CUTLASS's names.
#pragma once
#include <cute/numeric/complex.hpp>

namespace cutlass {

using zellige::complex;
using zellige::conj;
using zellige::imag;
using zellige::is_complex;
using zellige::norm;
using zellige::real;
using zellige::RealType;

}  // namespace cutlass
