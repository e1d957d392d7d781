// CUDA graphs that are captured from streams. Between the begin and the end of a capture, launches, copies and fills are kept
// instead of done; cudaGraphLaunch does them in their order.
#pragma once
#include "zellige/cuda/launch.hpp"

using cudaGraph_t = ::zellige::cuda::Recording*;
using cudaGraphExec_t = ::zellige::cuda::Recording*;
using cudaGraphNode_t = const void*;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
struct cudaGraphExecUpdateResultInfo {
  int result = 0;
  cudaGraphNode_t errorNode = nullptr, errorFromNode = nullptr;
};

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  if (::zellige::cuda::recording) return ::zellige::cuda::done(cudaErrorInvalidValue);
  return ::zellige::cuda::recording = new ::zellige::cuda::Recording, cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (!::zellige::cuda::recording) return ::zellige::cuda::done(cudaErrorInvalidValue);
  *graph = ::zellige::cuda::recording;
  return ::zellige::cuda::recording = nullptr, cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = ::zellige::cuda::recording ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
template <class... Rest>
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, Rest...) {
  return *made = new ::zellige::cuda::Recording(*graph), cudaSuccess;
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  return cudaGraphInstantiate(made, graph);
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t) {
  for (const std::function<void()>& step : made->steps) step();
  return cudaPeekAtLastError();
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  return *made = *graph, *info = {}, cudaSuccess;
}
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  for (std::size_t i = 0; nodes && i < *count && i < graph->steps.size(); ++i) nodes[i] = &graph->steps[i];
  return *count = graph->steps.size(), cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made) { return delete made, cudaSuccess; }
