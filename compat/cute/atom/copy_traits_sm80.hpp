// CuTe's header for the thread-value layouts of cp.async.
#pragma once
#include <cute/atom/copy_atom.hpp>
