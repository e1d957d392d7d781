// CuTe's header for Copy_Traits, the thread-value layouts of copy instructions.
#pragma once
#include <cute/atom/copy_atom.hpp>
