// Pointers tagged with their memory space.
#pragma once
#include <cute/container/array_subbyte.hpp>
#include <cute/pointer_base.hpp>
#include <cute/pointer_swizzle.hpp>
#include <zellige/tensor/pointer.hpp>
