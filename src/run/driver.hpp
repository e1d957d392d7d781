// CUDA's driver API, loaded when it is first needed, and the few owners that a launch takes.
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
  int clock_khz = 0;           // its highest
  int l2_bytes = 0;
};

/// The device in use: $ZELLIGE_DEVICE, else 0; its primary context is current on the calling thread from here
/// on. Fails where there is no driver or no device.
const Device& device();

/// Why there is no GPU to run on, or "" if there is one.
std::string why_no_gpu();

/// What is known of any device; and its primary context, made current on the calling thread.
const Device& device_info(int index);
void use_device(int index);

/// What a program planned for `target` is compiled for there: code of sm_80 to sm_89 means the same on every later GPU, of which it
/// takes the own instructions; what is planned for sm_90a is for that alone.
std::string architecture_for(std::string_view target, const Device& = device());

/// Fails unless the device runs code that was compiled for that architecture.
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
  void copy(const DeviceBytes& from);  // all of it

 private:
  std::uint64_t address_ = 0;
  std::int64_t bytes_ = 0;
};

/// A kernel of a loaded module.
struct Function {
  std::string program, name;  // for messages
  void* handle = nullptr;
  int registers = 0, local_bytes = 0, static_shared_bytes = 0;
  int most_threads = 0;  // of a block, with these registers
};

/// The sizes of a kernel's parameters as the driver knows them; nothing of a driver before CUDA 12.4.
std::optional<std::vector<std::int64_t>> parameter_bytes(const Function&);

/// In the context that is current.
class Module {
 public:
  explicit Module(const std::string& cubin);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  /// Also lets the kernel have that much dynamic shared memory. `program`: what messages call the module.
  Function function(const std::string& program, const std::string& name,
                    std::int64_t dynamic_shared_bytes) const;

 private:
  void* handle_ = nullptr;
};

/// A kernel's parameter: an address, a TMA descriptor, or a number of any type.
struct Argument {
  std::uint64_t address = 0;
  std::optional<TmaDescriptor> map = {};
  const void* constant = nullptr;  // where it is the latter: its bytes
};

/// How a kernel is launched: `cluster` blocks along x at a time, and, where `early`, while the one before it still runs.
struct LaunchShape {
  graph::Dim3 grid, block;
  std::int64_t shared_bytes = 0;
  int cluster = 1;
  bool early = false;
};

/// Puts a kernel into a stream, which need not be Zellige's.
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
  /// Waits; fails with what the kernels since the last wait ran into.
  void wait();
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

/// A CUDA graph of what `launch` puts into a stream.
class CapturedGraph {
 public:
  CapturedGraph(Stream&, const std::function<void()>& launch);
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  void launch(Stream&) const;

 private:
  void *graph_ = nullptr, *ready_ = nullptr;
};

/// A point in a stream whose time is taken.
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

/// Holds a stream until it is released, so that what is queued meanwhile runs without gaps.
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
