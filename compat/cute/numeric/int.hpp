// Integers by their bits.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/numeric/int.hpp>
