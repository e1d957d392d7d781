// CuTe's header for static fractions R<n, d>.
#pragma once
#include <cute/numeric/integral_constant.hpp>
#include <zellige/layout/ratio.hpp>
