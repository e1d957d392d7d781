// CuTe's header for fma, add and mul of real numbers.
#pragma once
#include <cute/config.hpp>
#include <zellige/numeric/real.hpp>
