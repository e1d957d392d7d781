// Copy_Atom, TiledCopy and the parts that a thread gets.
#pragma once
#include <cute/arch/config.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/write.hpp>

#if defined(__CUDACC__)
#include <zellige/atom/issue_copy.hpp>
#endif
