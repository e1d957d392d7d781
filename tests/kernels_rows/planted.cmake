# injected(NAME HEADER FROM TO): a copy of include/zellige/kernels/HEADER in which FROM, which occurs exactly once, is TO, as
# injected/NAME.hpp in the build directory and in namespace zellige::injected::NAME.
#
# As a script it does so once: cmake -DKERNELS=DIR -DOUT=DIR -P planted.cmake
function(injected name header from to)
  file(READ ${KERNELS}/${header} text)
  string(REPLACE "${from}" "" without "${text}")
  string(LENGTH "${text}" whole)
  string(LENGTH "${without}" rest)
  string(LENGTH "${from}" one)
  math(EXPR times "(${whole} - ${rest}) / ${one}")
  if(NOT times EQUAL 1)
    message(FATAL_ERROR "injected ${name}: ${header} has '${from}' ${times} times, it must be there once")
  endif()
  string(REPLACE "${from}" "${to}" text "${text}")
  string(REPLACE "namespace zellige::kernels" "namespace zellige::injected::${name}" text "${text}")
  file(CONFIGURE OUTPUT ${OUT}/${name}.hpp CONTENT "${text}" @ONLY)
endfunction()

# A dropped barrier, wait or __syncwarp.
injected(transpose_no_barrier transpose.hpp "  cp_async_wait<0>();\n  __syncthreads();" "  cp_async_wait<0>();")
injected(transpose_no_wait transpose.hpp "  cp_async_wait<0>();\n" "")
injected(sm80_wait_too_few gemm_sm80.hpp "cp_async_wait<stages - 2>();" "cp_async_wait<stages - 1>();")
injected(sm80_no_barrier gemm_sm80.hpp "    __syncthreads();\n    if (tile + stages" "    if (tile + stages")
injected(ragged_stage_reused gemm_ragged.hpp "      __syncthreads();\n      load_stage(stage," "      load_stage(stage,")
injected(ragged_sums_too_early gemm_ragged.hpp "  __syncthreads();\n  const smem<float> sums" "  const smem<float> sums")
injected(decode_no_syncwarp decode_attention.hpp "    __syncwarp();\n" "")
injected(decode_no_barrier_before_count decode_attention.hpp
        "  __syncthreads();\n  if (tid == 0) arrived[0]" "  if (tid == 0) arrived[0]")
injected(decode_no_cluster_sync decode_attention.hpp "keep(block));\n    cluster_sync();" "keep(block));\n    __syncthreads();")
injected(decode_leaves_early decode_attention.hpp "    cluster_sync();  // no block exits while others read its results\n" "")
# A place reused too early.
injected(norm_one_slot norm.hpp "    slot = 4 * warps - slot;\n" "")
injected(softmax_one_slot softmax.hpp "    slot = 2 * warps - slot;\n" "")
injected(decode_stage_too_early decode_attention.hpp "load_tile(stage == 0 ? Stages - 1 : stage - 1, next_key)" "load_tile(stage, next_key)")
# An off-by-one predicate, a wrong pitch, a wrong swizzle, a wrong count.
injected(transpose_row_too_many transpose.hpp "row < rows && column < columns;" "row <= rows && column < columns;")
injected(transpose_column_too_many transpose.hpp "to_column >= rows) continue" "to_column > rows) continue")
injected(sm80_k_too_far gemm_sm80.hpp "const int valid = m0 + r < M ? edge(K - k, 8) : 0;" "const int valid = m0 + r < M ? 8 : 0;")
injected(ragged_row_too_many gemm_ragged.hpp "row < K ? bytes : 0);" "row <= K ? bytes : 0);")
injected(ragged_pitch gemm_ragged.hpp "line = k + 8;" "line = k + 4;")
injected(decode_key_too_many decode_attention.hpp "const bool exists = key0 + r < end;" "const bool exists = key0 + r <= end;")
injected(decode_counts_wrong decode_attention.hpp "atomic_increment(counters + unit, splits - 1)" "atomic_increment(counters + unit, splits)")
injected(decode_last_counts_early decode_attention.hpp
        "if (arrived[0] == static_cast<unsigned>(splits - 1))" "if (arrived[0] == static_cast<unsigned>(splits - 2))")
injected(softmax_row_too_far softmax.hpp "from = x + row * pitch_x;" "from = x + (row + 1) * pitch_x;")
