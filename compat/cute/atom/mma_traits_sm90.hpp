// The thread-value layouts of matrix instructions.
#pragma once
#include <cute/atom/mma_atom.hpp>
