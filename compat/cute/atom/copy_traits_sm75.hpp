// The thread-value layouts of copy instructions.
#pragma once
#include <cute/atom/copy_atom.hpp>
