// CuTe's header for axpby, provided by Zellige's tensor library.
#pragma once
#include <cute/tensor_impl.hpp>
