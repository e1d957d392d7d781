// CuTe's header for array_subbyte, arrays of packed elements smaller than a byte.
#pragma once
#include <cute/container/array.hpp>
#include <cute/numeric/numeric_types.hpp>
#include <zellige/tensor/subbyte.hpp>

namespace zellige {

/// The type of the storage units into which elements are packed.
template <class T>
using subbyte_storage_type_t = uint8_t;

}  // namespace zellige
