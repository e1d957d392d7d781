// FlashAttention 3's forward kernel for SM90, depth 64 or 128 (DEPTH), as its own launcher runs it.
//
// For Dao-AILab/flash-attention 0251105, hopper. Built as a shared library for sm_90a with -use_fast_math, NDEBUG,
// CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED, CUTLASS_ENABLE_GDC_FOR_SM90, extended lambdas and relaxed constexpr; ELEMENT
// (half_t or bfloat16_t) and CAUSAL (0 or 1) are macros. Include folders: compat and include first, or neither for CuTe's
// headers; CUTLASS's include; and hopper.
#include "flash_fwd_launch_template.h"
#include "launch.hpp"

#ifndef DEPTH
#define DEPTH 128
#endif

void prepare_varlen_num_blocks(Flash_fwd_params&, cudaStream_t, bool, int, int, bool) {
}  // for sizes that differ by row

extern "C" __attribute__((visibility("default"))) int launch(Attention const& a) {
  using Element = cutlass::ELEMENT;
  Flash_fwd_params p = {};
  p.q_ptr = a.q, p.k_ptr = a.k, p.v_ptr = a.v, p.o_ptr = a.out, p.softmax_lse_ptr = a.lse;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = a.depth;
  p.q_row_stride = p.o_row_stride = a.heads * a.depth;
  p.k_row_stride = p.v_row_stride = a.kv_heads * a.depth;
  p.q_batch_stride = p.o_batch_stride = a.rows * p.q_row_stride;
  p.k_batch_stride = p.v_batch_stride = a.columns * p.k_row_stride;
  p.v_dim_stride = 1;
  p.b = p.b_k = a.batch, p.h = a.heads, p.h_k = a.kv_heads;
  p.seqlen_q = p.seqlen_q_rounded = a.rows, p.seqlen_k = p.seqlen_k_rounded = a.columns;
  p.d = p.dv = p.d_rounded = p.dv_rounded = a.depth;
  p.total_q = a.batch * a.rows, p.total_k = a.batch * a.columns;
  p.scale_softmax = a.scale, p.p_dropout = p.rp_dropout = 1, p.p_dropout_in_uint8_t = 255;
  p.window_size_left = -1, p.window_size_right = CAUSAL ? 0 : -1, p.is_causal = CAUSAL;
  p.is_bf16 = std::is_same_v<Element, cutlass::bfloat16_t>;
  p.num_splits = 1, p.arch = 90, p.num_sm = a.multiprocessors;
  p.tile_count_semaphore = static_cast<int*>(a.scratch);

  constexpr int Cluster = CAUSAL || DEPTH < 128 ? 1 : 2;  // FlashAttention 3's choice for an even number of tiles
  if (a.causal != bool(CAUSAL) || a.rows % 256 || a.depth != DEPTH) return 1;
  if (cudaError_t e = cudaMemsetAsync(a.scratch, 0, sizeof(int))) return e;
  run_flash_fwd<90, DEPTH, DEPTH, Cluster, Element, Element, CAUSAL, false, false, false, false, false, false, false,
                false, false>(p, 0);
  return cudaGetLastError();
}
