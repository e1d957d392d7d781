// CuTe's header for bit_field: numbers at arbitrary bits of an array of words.
#pragma once
#include <cute/numeric/int.hpp>
#include <zellige/container/bit_field.hpp>

namespace zellige {

/// CuTe's name for the default third argument of bit_field.
class dummy_type {};

}  // namespace zellige
