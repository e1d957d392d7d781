// CuTe's header for coordinates, indices and strides: crd2idx, idx2crd, compact_major.
#pragma once
#include <cute/int_tuple.hpp>
#include <zellige/layout/coord_iterator.hpp>
