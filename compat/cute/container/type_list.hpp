// CuTe's header for type_list, a list of types.
#pragma once
#include <cute/util/type_traits.hpp>
#include <zellige/container/type_list.hpp>
