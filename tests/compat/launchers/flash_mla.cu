// FlashMLA's dense decoding kernel for SM90: each request by one block or, where `halves`, by two without their sum.
//
// For deepseek-ai/FlashMLA 9241ae3, csrc. Built as a shared library for sm_90a with -use_fast_math, NDEBUG,
// _USE_MATH_DEFINES, extended lambdas and relaxed constexpr; ELEMENT (half_t or bfloat16_t) and CAUSAL (0 or 1) are macros.
// Include folders: compat and include first, or neither for CuTe's headers; CUTLASS's include; csrc,
// csrc/kerutils/include and csrc/sm90/decode/dense.
#include <vector>

#include "launch.hpp"
#include "splitkv_mla.cuh"

namespace {

/// Which pages each block reads, how many partial results are before each request's, and where its pages are.
struct Schedule {
  std::vector<DecodingSchedMeta> parts;
  std::vector<int> splits{0}, table, lengths;
};
Schedule schedule(Attention const& a) {
  Schedule s;
  int const pages = a.columns / 64;
  for (int i = 0; i < a.batch; ++i) {
    if (a.halves) {
      s.parts.push_back({i, i, 0, pages / 2, 0, 1, 1, {}});
      s.parts.push_back({i, i, pages / 2, pages, 1, 1, 1, {}});
    } else {
      s.parts.push_back({i, i, 0, pages, 0, 0, 0, {}});
    }
    s.splits.push_back(s.splits.back() + (a.halves ? 2 : 1));
    s.lengths.push_back(a.columns);
    for (int j = 0; j < pages; ++j) s.table.push_back((i * pages + j) * 7 % (a.batch * pages));  // 7: any odd order
  }
  return s;
}

template <class T>
T* put(char*& to, std::vector<T> const& values) {
  T* const at = reinterpret_cast<T*>(to);
  cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  to += (values.size() * sizeof(T) + 255) / 256 * 256;
  return at;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int launch(Attention const& a) {
  static DenseAttnDecodeParams p;
  static void const* ready = nullptr;
  if (ready != a.q) {  // once a problem: the schedule is copied to the GPU
    Schedule const s = schedule(a);
    char* to = static_cast<char*>(a.scratch);
    p = {};
    p.tile_scheduler_metadata_ptr = put(to, s.parts), p.num_splits_ptr = put(to, s.splits);
    p.block_table = put(to, s.table), p.seqlens_k_ptr = put(to, s.lengths);
    p.num_sm_parts = int(s.parts.size()), p.block_table_batch_stride = a.columns / 64;
    ready = a.q;
  }
  p.b = a.batch, p.s_q = a.rows, p.q_seq_per_hk = a.rows * a.heads, p.d = 576, p.d_v = 512;
  p.h_q = a.heads, p.h_k = 1, p.num_blocks = a.batch * (a.columns / 64), p.q_head_per_hk = a.heads;
  p.is_causal = a.causal, p.scale_softmax = a.scale, p.scale_softmax_log2 = a.scale * float(M_LOG2E);
  p.q_ptr = a.q, p.k_ptr = a.k, p.o_ptr = a.out, p.softmax_lse_ptr = a.lse;
  p.q_row_stride = p.q_head_stride = 576, p.q_batch_stride = a.rows * a.heads * 576;
  p.k_row_stride = p.k_head_stride = 576, p.k_batch_stride = 64 * 576;
  p.o_row_stride = 512, p.o_head_stride = a.rows * a.heads * 512, p.o_batch_stride = p.o_head_stride;
  p.page_block_size = 64, p.total_num_splits = 2 * a.batch;
  p.softmax_lseaccum_ptr = a.partial_lse, p.oaccum_ptr = a.partial_out;
  if (a.columns % 128 || a.kv_heads != 1 || a.depth != 576) return 1;
  sm90::run_flash_splitkv_mla_kernel<cutlass::ELEMENT>(p);
  return cudaGetLastError();
}
