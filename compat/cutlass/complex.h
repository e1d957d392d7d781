// CUTLASS's header for complex numbers.
#pragma once
#if __has_include_next(<cutlass/complex.h>)
#include_next <cutlass/complex.h>
#else
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
#endif
