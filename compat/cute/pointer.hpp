// Pointers that know the memory they point into.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor.hpp>
