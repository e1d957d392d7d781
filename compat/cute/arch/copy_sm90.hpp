// Copy instructions.
#pragma once
#include <cute/atom/copy_atom.hpp>
