// Not here.
#pragma once
#error \
    "cute/arch/mma_sm90_gmma_sparse_ext.hpp: Zellige has the dense warpgroup instructions; the sparse ones are not there"
