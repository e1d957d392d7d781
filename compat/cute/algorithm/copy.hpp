// copy and copy_if.
#pragma once
#include <cute/tensor_impl.hpp>
