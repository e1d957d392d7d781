// Not here.
#pragma once
#error \
    "cute/arch/mma_sm90_gmma_sparse.hpp: Zellige has the dense warpgroup instructions; the sparse ones are not there"
