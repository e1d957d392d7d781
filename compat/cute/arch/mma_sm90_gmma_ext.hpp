// CuTe's header for wgmma instructions with the less frequent values of N (24, 40, 48, ...).
#pragma once
#include <cute/arch/mma_sm90_gmma.hpp>
#include <zellige/atom/gmma_names_ext.hpp>
