// Copy_Atom, TiledCopy and the parts that a thread gets.
#pragma once
#include <cute/arch/config.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/write.hpp>

#if defined(__CUDACC__)
#include <zellige/atom/issue_copy.hpp>
#endif

// What a Copy_Atom can be of.
#include <cute/arch/copy_sm90.hpp>
#include <cute/atom/copy_traits_sm90_tma.hpp>
