// CuTe's header for complex numbers.
#pragma once
#include <cute/numeric/real.hpp>
#include <zellige/numeric/complex.hpp>
