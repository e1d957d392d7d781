// CuTe's header for operators as function objects: plus, multiplies, identity.
#pragma once
#include <cute/numeric/math.hpp>
#include <zellige/layout/functional.hpp>
