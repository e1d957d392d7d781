// CUDA's driver API, loaded on first use, and the RAII classes needed for a launch.
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

struct Device {
  int index = 0;
  std::string name;
  int compute_capability = 0;  // 90 for 9.0
  int driver = 0;              // 13000 for CUDA 13.0
  int clock_khz = 0;           // maximum
  int l2_bytes = 0;
};

/// The device in use ($ZELLIGE_DEVICE, else 0). Makes its primary context current on the calling thread.
/// Throws Error if there is no driver or no device.
const Device& device();

/// Why there is no usable GPU, or "" if there is one.
std::string why_no_gpu();

/// Returns the properties of any device; below: makes its primary context current on the calling thread.
const Device& device_info(int index);
void use_device(int index);

/// The architecture to compile for on a device when a program is planned for `target`: code for sm_80 to
/// sm_89 is valid on every later GPU and is compiled for that GPU's own instructions; code for sm_90a runs on
/// sm_90a only.
std::string architecture_for(std::string_view target, const Device& = device());

/// Throws Error unless the device runs code compiled for that architecture.
void require_architecture(std::string_view architecture, const Device& = device());

/// Device memory.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::int64_t bytes);
  ~DeviceBytes();
  DeviceBytes(DeviceBytes&& other) noexcept : address_(other.address_), bytes_(other.bytes_) {
    other.address_ = 0;
  }
  DeviceBytes& operator=(DeviceBytes&&) = delete;

  std::uint64_t address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }
  void fill(unsigned char value);
  void upload(const void* from, std::int64_t bytes, std::int64_t offset = 0);
  void download(void* to, std::int64_t bytes, std::int64_t offset = 0) const;
  void copy(const DeviceBytes& from);  // copies all bytes

 private:
  std::uint64_t address_ = 0;
  std::int64_t bytes_ = 0;
};

/// A kernel of a loaded module.
struct Function {
  std::string program, name;  // for messages
  void* handle = nullptr;
  int registers = 0, local_bytes = 0, static_shared_bytes = 0;
  int max_threads = 0;  // maximum block size, given its registers
};

/// The sizes of a kernel's parameters as the driver reports them; nothing with a driver before CUDA 12.4.
std::optional<std::vector<std::int64_t>> parameter_bytes(const Function&);

/// Loaded into the current context.
class Module {
 public:
  explicit Module(const std::string& cubin);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Returns a kernel and allows it that much dynamic shared memory. `program`: the module's name for
  /// messages.
  Function function(const std::string& program, const std::string& name,
                    std::int64_t dynamic_shared_bytes) const;

 private:
  void* handle_ = nullptr;
};

/// A kernel's parameter: an address, a TMA descriptor, or a number of any type.
struct Argument {
  std::uint64_t address = 0;
  std::optional<TmaDescriptor> map = {};
  const void* constant = nullptr;  // a number: its bytes
};

/// Launch configuration: clusters of `cluster` blocks along x; `early`: may start while the previous kernel
/// still runs.
struct LaunchShape {
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;
  int cluster = 1;
  bool early = false;
};

/// Enqueues a kernel on a stream of any owner.
void launch(void* stream, const Function&, const LaunchShape&, const std::vector<Argument>&);

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void launch(const Function& f, const LaunchShape& shape, const std::vector<Argument>& arguments) {
    run::launch(handle_, f, shape, arguments);
  }
  /// Synchronizes; throws if a kernel has failed since the last wait.
  void wait();
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

/// A CUDA graph of what `launch` enqueues on a stream.
class CapturedGraph {
 public:
  CapturedGraph(Stream&, const std::function<void()>& launch);
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  void launch(Stream&) const;

 private:
  void *graph_ = nullptr, *ready_ = nullptr;
};

/// A timing event in a stream.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Event& operator=(Event&&) = delete;
  void record(Stream&);
  double ms_since(const Event& earlier) const;

 private:
  void* handle_ = nullptr;
};

/// Blocks a stream until released, so that the work queued meanwhile runs without gaps.
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
