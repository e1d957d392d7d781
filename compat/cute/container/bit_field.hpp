// Numbers at arbitrary bits of an array.
#pragma once
#include <cute/numeric/int.hpp>
#include <zellige/container/bit_field.hpp>

namespace zellige {

/// The default if a number has no other type.
class dummy_type {};

}  // namespace zellige
