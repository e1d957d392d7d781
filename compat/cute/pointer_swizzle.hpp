// Pointers whose addresses are swizzled.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor.hpp>
