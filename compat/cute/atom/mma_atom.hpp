// MMA_Atom, TiledMMA and the parts that a thread gets.
#pragma once
#include <cute/tensor_impl.hpp>
#include <zellige/atom/tiled_mma.hpp>
