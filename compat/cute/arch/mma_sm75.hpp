// Matrix instructions.
#pragma once
#include <cute/atom/mma_atom.hpp>
