// Pointers that know the memory they point into.
#pragma once
#include <cute/container/array_subbyte.hpp>
#include <cute/pointer_base.hpp>
#include <cute/pointer_swizzle.hpp>
#include <zellige/tensor/pointer.hpp>
