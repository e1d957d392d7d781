// Arrays of elements of less than a byte.
#pragma once
#include <cute/container/array.hpp>
#include <cute/numeric/numeric_types.hpp>
#include <zellige/tensor/subbyte.hpp>
