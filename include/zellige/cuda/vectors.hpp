// The part of Thrust that launchers of samples use: vectors of the host and of the device, and copies between them.
#pragma once
#include <vector>

#include "zellige/cuda/runtime.hpp"

namespace thrust {

template <class T>
class device_vector;

/// An array of the host.
template <class T>
class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector(const device_vector<T>& from) : std::vector<T>(from.size()) {
    cudaMemcpy(this->data(), from.data().get(), from.size() * sizeof(T), cudaMemcpyDeviceToHost);
  }
};

/// A pointer to memory of the device.
template <class T>
class device_ptr {
 public:
  explicit device_ptr(T* p) : p_(p) {}
  T* get() const { return p_; }

 private:
  T* p_;
};
template <class T>
T* raw_pointer_cast(device_ptr<T> p) {
  return p.get();
}

/// An array of the device.
template <class T>
class device_vector {
 public:
  device_vector() = default;
  explicit device_vector(std::size_t n) : size_(n) { allocate(); }
  device_vector(const std::vector<T>& from) : size_(from.size()) {
    allocate();
    cudaMemcpy(p_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  device_vector(const device_vector& from) : size_(from.size_) {
    allocate();
    cudaMemcpy(p_, from.p_, size_ * sizeof(T), cudaMemcpyDeviceToDevice);
  }
  device_vector& operator=(device_vector from) {
    std::swap(p_, from.p_);
    std::swap(size_, from.size_);
    return *this;
  }
  ~device_vector() { cudaFree(p_); }
  std::size_t size() const { return size_; }
  device_ptr<T> data() { return device_ptr<T>(p_); }
  device_ptr<const T> data() const { return device_ptr<const T>(p_); }

 private:
  void allocate() {
    if (size_) cudaMalloc(&p_, size_ * sizeof(T));
  }
  T* p_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace thrust
