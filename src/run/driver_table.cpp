#include "run/driver_table.hpp"

#include "graph/error.hpp"
#include "run/gpu_fault.hpp"
#include "run/library.hpp"

namespace zellige::run {

const Driver& driver() {
  static const Driver table = [] {
    const Library library = Library::open("CUDA driver", {"libcuda.so.1", "libcuda.so"});
    Driver d;
    library.bind(d.init, "cuInit");
    library.bind(d.driver_version, "cuDriverGetVersion");
    library.bind(d.error_name, "cuGetErrorName");
    library.bind(d.error_string, "cuGetErrorString");
    library.bind(d.device_count, "cuDeviceGetCount");
    library.bind(d.device_get, "cuDeviceGet");
    library.bind(d.device_name, "cuDeviceGetName");
    library.bind(d.device_attribute, "cuDeviceGetAttribute");
    library.bind(d.context_retain, "cuDevicePrimaryCtxRetain");
    library.bind(d.context_set, "cuCtxSetCurrent");
    library.bind(d.context_get, "cuCtxGetCurrent");
    library.bind(d.context_device, "cuCtxGetDevice");
    library.bind(d.module_load, "cuModuleLoadData");
    library.bind(d.module_unload, "cuModuleUnload");
    library.bind(d.module_function, "cuModuleGetFunction");
    library.bind(d.function_get, "cuFuncGetAttribute");
    library.bind(d.function_set, "cuFuncSetAttribute");
    library.bind(d.alloc, "cuMemAlloc_v2");
    library.bind(d.free, "cuMemFree_v2");
    library.bind(d.pointer_attributes, "cuPointerGetAttributes");
    library.bind(d.memset8, "cuMemsetD8_v2");
    library.bind(d.upload, "cuMemcpyHtoD_v2");
    library.bind(d.download, "cuMemcpyDtoH_v2");
    library.bind(d.stream_create, "cuStreamCreate");
    library.bind(d.stream_destroy, "cuStreamDestroy_v2");
    library.bind(d.stream_wait, "cuStreamSynchronize");
    library.bind(d.host_function, "cuLaunchHostFunc");
    library.bind(d.event_create, "cuEventCreate");
    library.bind(d.event_destroy, "cuEventDestroy_v2");
    library.bind(d.event_record, "cuEventRecord");
    library.bind(d.event_ms, "cuEventElapsedTime");
    library.bind(d.launch, "cuLaunchKernel");
    library.bind(d.copy, "cuMemcpyDtoD_v2");
    library.bind(d.capture_begin, "cuStreamBeginCapture_v2");
    library.bind(d.capture_info, "cuStreamGetCaptureInfo_v2");
    library.bind(d.capture_mode, "cuThreadExchangeStreamCaptureMode");
    library.bind(d.capture_end, "cuStreamEndCapture");
    library.bind(d.graph_instantiate, "cuGraphInstantiateWithFlags");
    library.bind(d.graph_launch, "cuGraphLaunch");
    library.bind(d.graph_destroy, "cuGraphDestroy");
    library.bind(d.graph_exec_destroy, "cuGraphExecDestroy");
    library.bind_if_there(d.launch_ex, "cuLaunchKernelEx");
    library.bind_if_there(d.parameter, "cuFuncGetParamInfo");
    if (const int status = d.init(0)) {
      const char* words = "unknown error";
      d.error_string(status, &words);
      fail("CUDA driver: cannot start: {}", words);
    }
    return d;
  }();
  return table;
}

void check(int status, const std::string& doing) {
  if (status == 0) return;
  const char *name = "unknown", *words = "unknown error";
  driver().error_name(status, &name);
  driver().error_string(status, &words);
  if (breaks_context(status)) throw Fault(context_is_gone(status, name));
  const std::string text = fmt::format("GPU, {}: {} ({})", doing, words, name);
  // Error of an invalid module (200, 218) or of a kernel (700 to 719): Zellige's own fault.
  const bool ours = status == 200 || status == 218 || (status >= 700 && status <= 719);
  if (ours) throw Fault(text);
  throw Error(text);
}

}  // namespace zellige::run
