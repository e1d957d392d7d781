// Wraps CUDA's driver API, loaded on first use: devices, device memory, modules, launches, streams, graphs and events.
// All functions throw Error with the driver's message on failure, and Fault if a kernel has broken the context.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zellige/atom/tma_descriptor.hpp>

#include "graph/graph.hpp"

namespace zellige::run {

/// Properties of a GPU.
struct Device {
  int index = 0;
  std::string name;
  int compute_capability = 0;  // 90 for 9.0
  int driver = 0;              // 13000 for CUDA 13.0
  int clock_khz = 0;           // maximum clock of the multiprocessors
  int l2_bytes = 0;
};

/// Returns the device in use ($ZELLIGE_DEVICE, else 0), and makes its primary context current on the calling
/// thread. Throws Error if there is no driver or no such device.
const Device& device();

/// Returns the properties of the device `index`; throws Error if there is none.
const Device& device_info(int index);
/// Makes the primary context of the device `index` current on the calling thread.
void use_device(int index);

/// Returns the architecture for which a program that is planned for `target` is compiled on a device. Plans
/// for sm_80 to sm_89 are valid on every later GPU, and are compiled for the GPU's own architecture. Plans
/// for sm_90a are compiled for sm_90a.
std::string architecture_for(std::string_view target, const Device& = device());

/// Throws Error unless the device runs machine code of the architecture `architecture`, such as sm_90a.
void require_architecture(std::string_view architecture, const Device& = device());

/// Owns device memory on the device in use. Copies are synchronous.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::int64_t bytes);
  ~DeviceBytes();
  DeviceBytes(DeviceBytes&& other) noexcept : address_(other.address_), bytes_(other.bytes_) { other.address_ = 0; }
  DeviceBytes& operator=(DeviceBytes&&) = delete;

  std::uint64_t address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }
  /// Sets all bytes of the device memory to `value`.
  void fill(unsigned char value);
  void upload(const void* from, std::int64_t bytes, std::int64_t offset = 0);
  void download(void* to, std::int64_t bytes, std::int64_t offset = 0) const;
  void copy(const DeviceBytes& from);  // copies this object's number of bytes

 private:
  std::uint64_t address_ = 0;
  std::int64_t bytes_ = 0;
};

/// A kernel of a loaded module (CUfunction), with what it uses.
struct DriverFunction {
  std::string program, name;  // program for messages, kernel name
  /// A CUfunction.
  void* handle = nullptr;
  /// Registers and local memory per thread; static shared memory per block, in bytes.
  int registers = 0, local_bytes = 0, static_shared_bytes = 0;
  int max_threads = 0;  // largest block that its registers allow
};

/// Returns the sizes in bytes of a kernel's parameters, from the driver; nullopt with drivers before CUDA 12.4.
std::optional<std::vector<std::int64_t>> parameter_bytes(const DriverFunction&);

/// A cubin that is loaded into the current context.
class Module {
 public:
  explicit Module(const std::string& cubin);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Returns the kernel `name` of the module, and allows it `dynamic_shared_bytes` bytes of dynamic shared
  /// memory per block. `program`: name of the program, for messages.
  DriverFunction function(const std::string& program, const std::string& name, std::int64_t dynamic_shared_bytes) const;

 private:
  void* handle_ = nullptr;
};

/// The argument of a kernel parameter: a device address, a TMA descriptor, or a number of any type.
struct KernelArgument {
  std::uint64_t address = 0;
  std::optional<TmaDescriptor> map = {};
  const void* constant = nullptr;  // a number: points to its bytes, which must outlive the launch
};

/// Configuration of a kernel launch: grid, block, cluster, shared memory, and programmatic dependent launch.
struct DriverLaunch {
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;
  int cluster = 1;     // blocks per cluster, along x
  bool early = false;  // programmatic dependent launch: may start while the previous kernel still runs
};

/// Enqueues a kernel on a CUstream of any origin. Throws Error for a cluster launch if the driver is older than 11.8.
void launch(void* stream, const DriverFunction&, const DriverLaunch&, const std::vector<KernelArgument>&);

/// A CUDA stream, created on the device in use.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Waits for all work enqueued on the stream. Throws Error or Fault if a kernel has failed.
  void wait();
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

/// An executable CUDA graph of the kernels that `launch` enqueues on a stream.
class CapturedGraph {
 public:
  CapturedGraph(Stream&, const std::function<void()>& launch);
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  /// Enqueues the captured graph on a stream.
  void launch(Stream&) const;

 private:
  void *graph_ = nullptr, *ready_ = nullptr;
};

/// A CUDA event for timing.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Event& operator=(Event&&) = delete;
  void record(Stream&);
  /// Returns the milliseconds from `earlier` to this event. Both must have completed.
  double ms_since(const Event& earlier) const;

 private:
  void* handle_ = nullptr;
};

/// Blocks a stream until it is opened or destroyed, so that work enqueued meanwhile runs without gaps.
class Gate {
 public:
  explicit Gate(Stream&);
  ~Gate() { open(); }
  void open();

 private:
  struct State;
  State* state_;
};

}  // namespace zellige::run
