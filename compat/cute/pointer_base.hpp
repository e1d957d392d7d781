// What pointers are iterators of.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor/iterator.hpp>
#include <zellige/tensor/write.hpp>
