// CuTe's header for static integers: Int<4>, _4, C<v>.
#pragma once
#include <cute/numeric/math.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout/integer.hpp>
