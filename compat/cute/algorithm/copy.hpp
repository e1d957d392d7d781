// copy and copy_if, with instructions too.
#pragma once
#include <cute/atom/copy_atom.hpp>
#include <cute/tensor_impl.hpp>
