// Layouts and tilings as SVG.
#pragma once
#include <cute/tensor_impl.hpp>
#if !defined(__CUDACC_RTC__)
#include <zellige/tensor/picture.hpp>
#endif
