// Products that a group of threads shares.
#pragma once
#include <cute/tensor_impl.hpp>
