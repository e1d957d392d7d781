// CuTe's header for copy and copy_if of tensors, with Copy_Atoms too.
#pragma once
#include <cute/atom/copy_atom.hpp>
#include <cute/tensor_impl.hpp>
