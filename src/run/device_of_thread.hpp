// Makes another GPU than $ZELLIGE_DEVICE's the device in use (run/driver.hpp) on one thread, for ranks that are threads.
//
//   const DeviceOfThread second(1);
//   DeviceBytes there(1024);   // on device 1
#pragma once

namespace zellige::run {

/// Makes device() the one of this index, on the calling thread, as long as it exists.
class DeviceOfThread {
 public:
  explicit DeviceOfThread(int index);
  ~DeviceOfThread();
  DeviceOfThread(const DeviceOfThread&) = delete;
  DeviceOfThread& operator=(const DeviceOfThread&) = delete;

 private:
  int before_;
};

}  // namespace zellige::run
