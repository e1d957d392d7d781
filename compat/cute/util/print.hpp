// print and pretty_print.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/layout/write.hpp>
