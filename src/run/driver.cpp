#include "run/driver.hpp"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "graph/error.hpp"
#include "run/device_of_thread.hpp"
#include "run/driver_table.hpp"
#include "target/target.hpp"

namespace zellige::run {
namespace {

// Returns the properties of the device `index`. Throws Error if there is none.
Device described(int index) {
  const Driver& d = driver();
  Device device{.index = index};
  int count = 0;
  check(d.device_count(&count), "counting the GPUs");
  if (index < 0 || index >= count) fail("GPU {}: this machine has {} of them, counted from 0", index, count);
  int handle = 0, major = 0, minor = 0;
  check(d.device_get(&handle, index), "opening the GPU");
  char name[256] = "";
  check(d.device_name(name, sizeof name, handle), "the GPU's name");
  device.name = name;
  d.device_attribute(&major, 75, handle);  // compute capability
  d.device_attribute(&minor, 76, handle);
  d.device_attribute(&device.clock_khz, 13, handle);
  d.device_attribute(&device.l2_bytes, 38, handle);
  d.driver_version(&device.driver);
  device.compute_capability = 10 * major + minor;
  return device;
}

// Returns the device index that $ZELLIGE_DEVICE names, else 0. Throws Error if it is not a number.
int standard_device() {
  int index = 0;
  if (const char* named = std::getenv("ZELLIGE_DEVICE"); named && *named) {
    const char* end = named + std::strlen(named);
    const auto [at, error] = std::from_chars(named, end, index);
    if (error != std::errc{} || at != end || index < 0)
      fail("ZELLIGE_DEVICE: expected a GPU's number, counted from 0, found {}", named);
  }
  return index;
}

/// An architecture such as sm_90a: its compute capability (90), and `exact` if its code runs on that capability only.
struct Architecture {
  int capability = 0;
  bool exact = false;
};
Architecture parsed(std::string_view name) {
  std::string digits(name.substr(std::min<std::size_t>(3, name.size())));
  const bool exact = !digits.empty() && digits.back() == 'a';
  if (exact) digits.pop_back();
  return {std::atoi(digits.c_str()), exact};
}

/// Returns the name of the target with this compute capability; where there is none, the architecture's.
std::string target_of(int compute_capability) {
  for (const target::Target& t : target::all())
    if (t.compute_capability == compute_capability) return std::string(t.name);
  return fmt::format("sm_{}", compute_capability);
}

/// Returns true if launches are synchronous: with CUDA_LAUNCH_BLOCKING, a launch returns when the kernel has ended.
bool launches_wait() {
  const char* set = std::getenv("CUDA_LAUNCH_BLOCKING");
  return set && *set && std::string_view(set) != "0";
}

// Enqueues a kernel on a CUstream, with the grid, cluster size and programmatic dependent launch that `shape`
// contains. Throws Error for a cluster launch if the driver is older than 11.8.
void put(void* stream, const DriverFunction& f, const DriverLaunch& shape,
         const std::vector<KernelArgument>& arguments) {
  std::vector<void*> where;
  where.reserve(arguments.size());
  for (const KernelArgument& a : arguments)
    where.push_back(a.constant ? const_cast<void*>(a.constant)
                    : a.map    ? const_cast<TmaDescriptor*>(&*a.map)
                               : static_cast<void*>(const_cast<std::uint64_t*>(&a.address)));
  auto u = [](std::int64_t n) { return static_cast<unsigned>(n); };
  std::vector<LaunchAttribute> attributes;
  if (shape.cluster > 1) {
    attributes.emplace_back().id = LaunchAttribute::cluster_dimension;
    attributes.back().value[0] = u(shape.cluster), attributes.back().value[1] = attributes.back().value[2] = 1;
  }
  // A driver without cuLaunchKernelEx cannot start a kernel before the previous one has ended.
  if (shape.early && driver().launch_ex) {
    attributes.emplace_back().id = LaunchAttribute::programmatic_stream_serialization;
    attributes.back().value[0] = 1;
  }
  const graph::Dim3 &grid = shape.grid, &block = shape.block;
  if (!attributes.empty()) {
    if (!driver().launch_ex)
      fail("GPU: launching clusters of {} blocks takes cuLaunchKernelEx, which this driver lacks", shape.cluster);
    LaunchConfiguration configuration{u(grid.x), u(grid.y), u(grid.z), u(block.x), u(block.y), u(block.z)};
    configuration.shared_bytes = u(shape.shared_bytes), configuration.stream = stream;
    configuration.attributes = attributes.data();
    configuration.attribute_count = u(static_cast<std::int64_t>(attributes.size()));
    return check(driver().launch_ex(&configuration, f.handle, where.data(), nullptr), "launching the kernel");
  }
  check(driver().launch(f.handle, u(grid.x), u(grid.y), u(grid.z), u(block.x), u(block.y), u(block.z),
                        u(shape.shared_bytes), stream, where.data(), nullptr),
        "launching the kernel");
}

}  // namespace

const Device& device_info(int index) {
  static std::mutex mutex;
  static std::map<int, Device> known;
  const std::lock_guard lock(mutex);
  auto at = known.find(index);
  if (at == known.end()) at = known.emplace(index, described(index)).first;
  return at->second;
}

void use_device(int index) {
  static std::mutex mutex;
  static std::map<int, void*> retained;
  const std::lock_guard lock(mutex);
  void*& context = retained[index];
  if (!context) {
    int handle = 0;
    check(driver().device_get(&handle, index), "opening the GPU");
    check(driver().context_retain(&context, handle), "the GPU's context");
  }
  check(driver().context_set(context), "the GPU's context");
}

namespace {
thread_local int device_of_thread = -1;
}
DeviceOfThread::DeviceOfThread(int index) : before_(std::exchange(device_of_thread, index)) {}
DeviceOfThread::~DeviceOfThread() { device_of_thread = before_; }

const Device& device() {
  driver();  // throws if there is no driver
  if (device_of_thread >= 0) {
    const Device& own = device_info(device_of_thread);
    use_device(own.index);
    return own;
  }
  static const Device& found = device_info(standard_device());
  use_device(found.index);
  return found;
}

std::string architecture_for(std::string_view target, const Device& d) {
  const Architecture wanted = parsed(target);
  return wanted.exact || wanted.capability >= d.compute_capability ? std::string(target)
                                                                   : fmt::format("sm_{}", d.compute_capability);
}

void require_architecture(std::string_view architecture, const Device& d) {
  const auto [wants, exact] = parsed(architecture);
  // A cubin runs on its own minor version and later ones of the same major version.
  const bool runs =
      exact ? wants == d.compute_capability : wants / 10 == d.compute_capability / 10 && wants <= d.compute_capability;
  if (!runs)
    fail("target {}: its code does not run on the {} here, which is sm_{}; choose --target {} or --on emulator",
         architecture, d.name, d.compute_capability, target_of(d.compute_capability));
}

DeviceBytes::DeviceBytes(std::int64_t bytes) : bytes_(bytes) {
  device();
  if (bytes > 0) check(driver().alloc(&address_, bytes), fmt::format("allocating {} bytes on the GPU", bytes));
}
DeviceBytes::~DeviceBytes() {
  if (address_) driver().free(address_);
}
void DeviceBytes::fill(unsigned char value) {
  if (bytes_ > 0) check(driver().memset8(address_, value, bytes_), "filling device memory");
}
void DeviceBytes::upload(const void* from, std::int64_t bytes, std::int64_t offset) {
  if (bytes > 0) check(driver().upload(address_ + offset, from, bytes), "copying to the GPU");
}
void DeviceBytes::download(void* to, std::int64_t bytes, std::int64_t offset) const {
  if (bytes > 0) check(driver().download(to, address_ + offset, bytes), "copying from the GPU");
}
void DeviceBytes::copy(const DeviceBytes& from) {
  if (bytes_ > 0) check(driver().copy(address_, from.address_, bytes_), "copying on the GPU");
}

Module::Module(const std::string& cubin) { check(driver().module_load(&handle_, cubin.data()), "loading the kernel"); }
Module::~Module() { driver().module_unload(handle_); }

DriverFunction Module::function(const std::string& program, const std::string& name,
                                std::int64_t dynamic_shared_bytes) const {
  const Driver& d = driver();
  DriverFunction f{.program = program, .name = name};
  check(d.module_function(&f.handle, handle_, name.c_str()), "kernel " + name);
  d.function_get(&f.max_threads, 0, f.handle);
  d.function_get(&f.static_shared_bytes, 1, f.handle);
  d.function_get(&f.local_bytes, 3, f.handle);
  d.function_get(&f.registers, 4, f.handle);
  if (dynamic_shared_bytes > target::shared_without_asking)
    check(d.function_set(f.handle, 8, static_cast<int>(dynamic_shared_bytes)),
          fmt::format("kernel {}: {} bytes of shared memory", name, dynamic_shared_bytes));
  return f;
}

std::optional<std::vector<std::int64_t>> parameter_bytes(const DriverFunction& f) {
  if (!driver().parameter) return std::nullopt;
  constexpr int no_such_device = 1;  // CUDA_ERROR_INVALID_VALUE
  std::vector<std::int64_t> all;
  for (std::size_t offset = 0, bytes = 0;; all.push_back(static_cast<std::int64_t>(bytes))) {
    const int status = driver().parameter(f.handle, all.size(), &offset, &bytes);
    if (status == no_such_device) return all;
    check(status, "kernel " + f.name + ": its parameters");
  }
}

Stream::Stream() {
  device();
  check(driver().stream_create(&handle_, 0 /* ordered with uploads and fills */), "creating a stream");
}
Stream::~Stream() { driver().stream_destroy(handle_); }

void launch(void* stream, const DriverFunction& f, const DriverLaunch& shape,
            const std::vector<KernelArgument>& arguments) {
  static const bool waits = launches_wait();
  record_launch(f.program, f.name);
  put(stream, f, shape, arguments);
  if (waits) record_wait();
}
void Stream::wait() {
  check(driver().stream_wait(handle_), "running the kernels");
  record_wait();
}

CapturedGraph::CapturedGraph(Stream& stream, const std::function<void()>& launch) {
  constexpr int of_this_thread = 1;
  check(driver().capture_begin(stream.handle(), of_this_thread), "capturing launches");
  launch();
  check(driver().capture_end(stream.handle(), &graph_), "capturing launches");
  check(driver().graph_instantiate(&ready_, graph_, 0), "making a graph of launches");
}
CapturedGraph::~CapturedGraph() {
  if (ready_) driver().graph_exec_destroy(ready_);
  if (graph_) driver().graph_destroy(graph_);
}
void CapturedGraph::launch(Stream& stream) const {
  check(driver().graph_launch(ready_, stream.handle()), "launching a graph");
}

Event::Event() { check(driver().event_create(&handle_, 0), "creating an event"); }
Event::~Event() {
  if (handle_) driver().event_destroy(handle_);
}
void Event::record(Stream& stream) { check(driver().event_record(handle_, stream.handle()), "recording an event"); }
double Event::ms_since(const Event& earlier) const {
  float ms = 0;
  check(driver().event_ms(&ms, earlier.handle_, handle_), "reading an event");
  return ms;
}

struct Gate::State {
  std::atomic<bool> open = false;
};
Gate::Gate(Stream& stream) : state_(new State) {
  auto hold = [](void* data) {
    const std::unique_ptr<State> state(static_cast<State*>(data));
    while (!state->open.load(std::memory_order_acquire)) std::this_thread::yield();
  };
  check(driver().host_function(stream.handle(), hold, state_), "holding a stream");
}
void Gate::open() {
  if (state_) state_->open.store(true, std::memory_order_release);
  state_ = nullptr;
}

}  // namespace zellige::run
