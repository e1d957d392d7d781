// Operators as function objects.
#pragma once
#include <cute/numeric/math.hpp>
#include <zellige/layout/functional.hpp>
