// Scalar functions.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/layout/bits.hpp>
