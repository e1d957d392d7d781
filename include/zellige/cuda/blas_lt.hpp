// cuBLASLt's products of matrices with an epilogue. What an operation's attributes say beyond a product with bias, relu or
// gelu is refused with CUBLAS_STATUS_NOT_SUPPORTED.
#pragma once
#include "zellige/cuda/blas.hpp"

enum cublasLtEpilogue_t : int {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,
  CUBLASLT_EPILOGUE_DGELU = 192,
  CUBLASLT_EPILOGUE_GELU_AUX = 160,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
  CUBLASLT_EPILOGUE_BGRADB = 512
};
enum cublasLtMatmulDescAttributes_t : int {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE,
  CUBLASLT_MATMUL_DESC_POINTER_MODE,
  CUBLASLT_MATMUL_DESC_TRANSA,
  CUBLASLT_MATMUL_DESC_TRANSB,
  CUBLASLT_MATMUL_DESC_TRANSC,
  CUBLASLT_MATMUL_DESC_FILL_MODE,
  CUBLASLT_MATMUL_DESC_EPILOGUE,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
  CUBLASLT_MATMUL_DESC_FAST_ACCUM = 20,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 21
};
enum cublasLtMatrixLayoutAttribute_t : int {
  CUBLASLT_MATRIX_LAYOUT_TYPE,
  CUBLASLT_MATRIX_LAYOUT_ORDER,
  CUBLASLT_MATRIX_LAYOUT_ROWS,
  CUBLASLT_MATRIX_LAYOUT_COLS,
  CUBLASLT_MATRIX_LAYOUT_LD,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
};
enum cublasLtOrder_t : int { CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW };
enum cublasLtMatmulPreferenceAttributes_t : int {
  CUBLASLT_MATMUL_PREF_SEARCH_MODE,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
};

/// A product's attributes.
struct cublasLtMatmulDescOpaque_t {
  int numbers[32] = {};
  void *bias = nullptr, *aux = nullptr;
  long long aux_pitch = 0;
};
/// A matrix's attributes.
struct cublasLtMatrixLayoutOpaque_t {
  int type = 0, order = CUBLASLT_ORDER_COL, batch = 1;
  long long rows = 0, columns = 0, pitch = 0, stride = 0;
};
struct cublasLtMatmulPreferenceOpaque_t {};
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t*;
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulPreference_t = cublasLtMatmulPreferenceOpaque_t*;
using cublasLtHandle_t = cublasContext*;
struct cublasLtMatmulAlgo_t {
  unsigned long long data[8] = {};
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize = 0;
  cublasStatus_t state = CUBLAS_STATUS_SUCCESS;
  float wavesCount = 1;
  int reserved[4] = {};
};

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* h) { return cublasCreate(h); }
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) { return cublasDestroy(h); }
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  *d = new cublasLtMatmulDescOpaque_t;
  (*d)->numbers[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = compute;
  (*d)->numbers[CUBLASLT_MATMUL_DESC_SCALE_TYPE] = scale;
  (*d)->numbers[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_DEFAULT;
  (*d)->numbers[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE] = -1;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) { return delete d, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t what,
                                                     const void* value, std::size_t bytes) {
  void* const to = what == CUBLASLT_MATMUL_DESC_BIAS_POINTER           ? static_cast<void*>(&d->bias)
                   : what == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER ? static_cast<void*>(&d->aux)
                   : what == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD      ? static_cast<void*>(&d->aux_pitch)
                   : what < 32                                         ? static_cast<void*>(&d->numbers[what])
                                                                       : nullptr;
  if (!to || bytes > 8) return CUBLAS_STATUS_INVALID_VALUE;
  return __builtin_memcpy(to, value, bytes), CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* m, cudaDataType_t type, unsigned long rows,
                                                 unsigned long columns, long pitch) {
  *m = new cublasLtMatrixLayoutOpaque_t;
  (*m)->type = type;
  (*m)->rows = static_cast<long long>(rows), (*m)->columns = static_cast<long long>(columns), (*m)->pitch = pitch;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t m) { return delete m, CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t m, cublasLtMatrixLayoutAttribute_t what,
                                                       const void* value, std::size_t bytes) {
  void* const places[] = {&m->type, &m->order, &m->rows, &m->columns, &m->pitch, &m->batch, &m->stride};
  if (what > CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET || bytes > 8) return CUBLAS_STATUS_INVALID_VALUE;
  return __builtin_memcpy(places[what], value, bytes), CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  return *p = new cublasLtMatmulPreferenceOpaque_t, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  return delete p, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void*,
                                                           std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                                                     cublasLtMatmulHeuristicResult_t* results, int* count) {
  results[0] = {};
  return *count = 1, CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t d, const void* alpha, const void* a,
                                     cublasLtMatrixLayout_t of_a, const void* b, cublasLtMatrixLayout_t of_b,
                                     const void* beta, const void* c, cublasLtMatrixLayout_t of_c, void* result,
                                     cublasLtMatrixLayout_t of_d, const cublasLtMatmulAlgo_t*, void*, std::size_t,
                                     cudaStream_t) {
  using Function = ::zellige::cuda::MatrixProduct::Function;
  const auto operand = [](const void* p, const cublasLtMatrixLayoutOpaque_t& m) {
    return ::zellige::cuda::MatrixProduct::Operand{p, m.type, m.pitch, m.stride};
  };
  if (of_a->order || of_b->order || of_c->order || of_d->order) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int epilogue = d->numbers[CUBLASLT_MATMUL_DESC_EPILOGUE];
  if (epilogue == CUBLASLT_EPILOGUE_BGRADB) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool transposed = d->numbers[CUBLASLT_MATMUL_DESC_TRANSA] != CUBLAS_OP_N;
  const auto scale = static_cast<cudaDataType_t>(d->numbers[CUBLASLT_MATMUL_DESC_SCALE_TYPE]);
  ::zellige::cuda::MatrixProduct p{transposed,
                                   d->numbers[CUBLASLT_MATMUL_DESC_TRANSB] != CUBLAS_OP_N,
                                   static_cast<int>(of_d->rows),
                                   static_cast<int>(of_d->columns),
                                   static_cast<int>(transposed ? of_a->rows : of_a->columns),
                                   of_d->batch,
                                   ::zellige::cuda::scalar(h, alpha, scale),
                                   ::zellige::cuda::scalar(h, beta, scale),
                                   operand(a, *of_a),
                                   operand(b, *of_b),
                                   operand(c, *of_c),
                                   operand(result, *of_d)};
  const int bias_type = d->numbers[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE];
  if (epilogue & CUBLASLT_EPILOGUE_BIAS) p.bias = {d->bias, bias_type < 0 ? of_d->type : bias_type, of_d->rows, 0};
  if (epilogue & 128) p.aux = {d->aux, of_d->type, d->aux_pitch, 0};
  if (epilogue & CUBLASLT_EPILOGUE_RELU) p.function = Function::relu;
  if (epilogue & CUBLASLT_EPILOGUE_GELU) p.function = Function::gelu;
  if (epilogue == CUBLASLT_EPILOGUE_DGELU) p.function = Function::gelu_slope;
  return static_cast<cublasStatus_t>(::zellige::cuda::host->multiply(p));
}
