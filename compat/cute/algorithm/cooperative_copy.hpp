// Copies that a group of threads shares.
#pragma once
#include <cute/algorithm/copy.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/tensor/cooperative.hpp>
