// Static fractions.
#pragma once
#include <cute/numeric/integral_constant.hpp>
#include <zellige/layout/ratio.hpp>
