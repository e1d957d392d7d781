// CuTe's header for fill(tensor, value), provided by Zellige's tensor library.
#pragma once
#include <cute/tensor_impl.hpp>
