// print_tensor.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor/write.hpp>
