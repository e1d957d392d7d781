// The GEMM of blackwell_gemm.hpp as ptx_test.cpp has it assembled for sm_100a and sm_103a.
#include "blackwell_gemm.hpp"
