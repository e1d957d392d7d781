// MMA_Atom, TiledMMA and the parts that a thread gets.
#pragma once
#include <cute/arch/config.hpp>
#include <cute/tensor_impl.hpp>
#include <zellige/atom/mma_call.hpp>
#include <zellige/atom/write.hpp>

// What an MMA_Atom can be of.
#include <cute/arch/mma_sm90_gmma.hpp>
