// CuTe's header for clear(tensor), provided by Zellige's tensor library.
#pragma once
#include <cute/tensor_impl.hpp>
