// CuTe's header for matrix instructions of SM70, provided by Zellige's MMA instructions.
#pragma once
#include <cute/atom/mma_atom.hpp>
