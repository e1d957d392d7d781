// FlashAttention 2's forward kernel, depth 64 or 128 (DEPTH), even sizes, as its own dispatch launches it on SM80 and SM90.
//
// For Dao-AILab/flash-attention 0251105, csrc/flash_attn/src. Built as a shared library for sm_80 or sm_90 with
// -use_fast_math, NDEBUG, extended lambdas and relaxed constexpr; ELEMENT (half_t or bfloat16_t) and CAUSAL (0 or 1) are
// macros. Include folders: compat and include first, or neither for CuTe's headers; CUTLASS's include; this folder's
// stand_ins, in place of torch's headers; and csrc/flash_attn/src.
#include <cute/tensor.hpp>

#include "flash_fwd_launch_template.h"
#include "launch.hpp"

#ifndef DEPTH
#define DEPTH 128
#endif

extern "C" __attribute__((visibility("default"))) int launch(Attention const& a) {
  // The tiles of 128 rows and so many columns that FlashAttention 2 takes at this depth.
  constexpr int Columns = DEPTH == 64 ? 128 : 64;
  using Traits = Flash_fwd_kernel_traits<DEPTH, 128, Columns, 4, false, false, cutlass::ELEMENT>;
  flash::Flash_fwd_params p = {};
  p.q_ptr = a.q, p.k_ptr = a.k, p.v_ptr = a.v, p.o_ptr = a.out, p.softmax_lse_ptr = a.lse;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = a.depth;
  p.q_row_stride = p.o_row_stride = a.heads * a.depth;
  p.k_row_stride = p.v_row_stride = a.kv_heads * a.depth;
  p.q_batch_stride = p.o_batch_stride = a.rows * p.q_row_stride;
  p.k_batch_stride = p.v_batch_stride = a.columns * p.k_row_stride;
  p.b = a.batch, p.h = a.heads, p.h_k = a.kv_heads, p.h_h_k_ratio = a.heads / a.kv_heads;
  p.seqlen_q = p.seqlen_q_rounded = a.rows, p.seqlen_k = p.seqlen_k_rounded = a.columns;
  p.d = p.d_rounded = a.depth;
  p.scale_softmax = a.scale, p.scale_softmax_log2 = a.scale * float(M_LOG2E);
  p.p_dropout = p.rp_dropout = 1, p.scale_softmax_rp_dropout = a.scale, p.p_dropout_in_uint8_t = 255;
  p.window_size_left = -1, p.window_size_right = CAUSAL ? 0 : -1, p.is_causal = CAUSAL;
  p.is_seqlens_k_cumulative = true, p.num_splits = 1;

  if (a.causal != bool(CAUSAL) || a.rows % Traits::kBlockM || a.columns % Traits::kBlockN || a.depth != DEPTH) return 1;
  auto kernel = &flash::flash_fwd_kernel<Traits, false, CAUSAL, false, false, true, true, false, false>;
  int const bytes = Traits::kSmemSize;
  if (cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) return e;
  kernel<<<dim3(a.rows / Traits::kBlockM, a.batch, a.heads), Traits::kNThreads, bytes>>>(p);
  return cudaGetLastError();
}
