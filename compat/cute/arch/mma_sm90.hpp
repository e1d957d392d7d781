// CuTe's header for warp-level matrix instructions of SM90, provided by Zellige's MMA instructions.
#pragma once
#include <cute/atom/mma_atom.hpp>
