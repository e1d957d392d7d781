// Coordinates, indices and strides.
#pragma once
#include <cute/int_tuple.hpp>
#include <zellige/layout/coord_iterator.hpp>
