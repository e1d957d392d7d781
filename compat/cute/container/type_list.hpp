// Lists of types.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/container/type_list.hpp>
