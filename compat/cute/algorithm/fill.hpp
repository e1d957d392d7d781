// fill.
#pragma once
#include <cute/tensor_impl.hpp>
