// CuTe's header for the thread-value layouts of stmatrix.
#pragma once
#include <cute/atom/copy_atom.hpp>
