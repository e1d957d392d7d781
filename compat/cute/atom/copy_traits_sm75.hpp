// CuTe's header for the thread-value layouts of ldmatrix.
#pragma once
#include <cute/atom/copy_atom.hpp>
