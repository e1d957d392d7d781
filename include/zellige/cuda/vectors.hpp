// Thrust's vectors of the host and of the device, pointers and references to memory of the device, and iterators that compute.
#pragma once
#include <iterator>
#include <vector>

#include "zellige/cuda/runtime.hpp"

namespace thrust {

template <class T>
class device_ptr;

/// An element in memory of the device: the host reads and writes it by copies.
template <class T>
class device_reference {
 public:
  explicit device_reference(T* p) : p_(p) {}
  device_reference(const device_reference&) = default;
  operator std::remove_const_t<T>() const {
    std::remove_const_t<T> x;
    cudaMemcpy(&x, p_, sizeof(T), cudaMemcpyDeviceToHost);
    return x;
  }
  const device_reference& operator=(const T& x) const {
    cudaMemcpy(p_, &x, sizeof(T), cudaMemcpyHostToDevice);
    return *this;
  }
  const device_reference& operator=(const device_reference& x) const { return *this = static_cast<T>(x); }
  device_reference& operator=(const device_reference& x) { return *this = static_cast<T>(x), *this; }
  device_ptr<T> operator&() const { return device_ptr<T>(p_); }
  const device_reference& operator+=(const T& x) const { return *this = static_cast<T>(*this) + x; }

 private:
  T* p_;
};

/// A pointer to memory of the device.
template <class T>
class device_ptr {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_const_t<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = device_ptr;
  using reference = device_reference<T>;

  device_ptr() = default;
  explicit device_ptr(T* p) : p_(p) {}
  template <class U>
  device_ptr(device_ptr<U> p) : p_(p.get()) {}
  T* get() const { return p_; }
  reference operator*() const { return reference(p_); }
  reference operator[](std::ptrdiff_t i) const { return reference(p_ + i); }
  device_ptr& operator++() { return ++p_, *this; }
  device_ptr operator++(int) { return device_ptr(p_++); }
  device_ptr& operator--() { return --p_, *this; }
  device_ptr& operator+=(std::ptrdiff_t n) { return p_ += n, *this; }
  device_ptr& operator-=(std::ptrdiff_t n) { return p_ -= n, *this; }
  friend device_ptr operator+(device_ptr a, std::ptrdiff_t n) { return device_ptr(a.p_ + n); }
  friend device_ptr operator-(device_ptr a, std::ptrdiff_t n) { return device_ptr(a.p_ - n); }
  friend std::ptrdiff_t operator-(device_ptr a, device_ptr b) { return a.p_ - b.p_; }
  friend bool operator==(device_ptr a, device_ptr b) { return a.p_ == b.p_; }
  friend bool operator!=(device_ptr a, device_ptr b) { return a.p_ != b.p_; }
  friend bool operator<(device_ptr a, device_ptr b) { return a.p_ < b.p_; }

 private:
  T* p_ = nullptr;
};
template <class T>
T* raw_pointer_cast(device_ptr<T> p) {
  return p.get();
}
template <class T>
T* raw_pointer_cast(T* p) {
  return p;
}
template <class T>
device_ptr<T> device_pointer_cast(T* p) {
  return device_ptr<T>(p);
}
template <class T>
device_ptr<T> device_malloc(std::size_t n) {
  T* p = nullptr;
  cudaMalloc(&p, n * sizeof(T));
  return device_ptr<T>(p);
}
template <class T>
void device_free(device_ptr<T> p) {
  cudaFree(p.get());
}

/// Elements that are computed from their number: `compute(i)`.
template <class F>
class ComputedIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::decay_t<decltype(std::declval<F>()(std::ptrdiff_t()))>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = value_type;

  ComputedIterator(F compute, std::ptrdiff_t at = 0) : compute_(compute), at_(at) {}
  std::ptrdiff_t place() const { return at_; }
  value_type operator*() const { return compute_(at_); }
  value_type operator[](std::ptrdiff_t i) const { return compute_(at_ + i); }
  ComputedIterator& operator++() { return ++at_, *this; }
  ComputedIterator& operator+=(std::ptrdiff_t n) { return at_ += n, *this; }
  friend ComputedIterator operator+(ComputedIterator a, std::ptrdiff_t n) { return a += n; }
  friend std::ptrdiff_t operator-(const ComputedIterator& a, const ComputedIterator& b) { return a.at_ - b.at_; }
  friend bool operator==(const ComputedIterator& a, const ComputedIterator& b) { return a.at_ == b.at_; }
  friend bool operator!=(const ComputedIterator& a, const ComputedIterator& b) { return a.at_ != b.at_; }

 private:
  F compute_;
  std::ptrdiff_t at_;
};
template <class T>
struct CountFrom {
  T first;
  T operator()(std::ptrdiff_t i) const { return static_cast<T>(first + static_cast<T>(i)); }
};
template <class T>
struct Repeated {
  T value;
  T operator()(std::ptrdiff_t) const { return value; }
};
template <class T>
class counting_iterator : public ComputedIterator<CountFrom<T>> {
 public:
  explicit counting_iterator(T first = T())
      : ComputedIterator<CountFrom<T>>(CountFrom<T>{T()}, static_cast<std::ptrdiff_t>(first)) {}
};
template <class T>
ComputedIterator<CountFrom<T>> make_counting_iterator(T first) {
  return {CountFrom<T>{T()}, static_cast<std::ptrdiff_t>(first)};
}
template <class T>
ComputedIterator<Repeated<T>> make_constant_iterator(T value) {
  return {Repeated<T>{value}};
}

/// What kernels get of an iterator: of a pointer to memory of the device, the pointer.
template <class I>
I in_kernels(I i) {
  return i;
}
template <class T>
T* in_kernels(device_ptr<T> p) {
  return p.get();
}
template <class F, class I>
struct Transformed {
  F change;
  I from;
  auto operator()(std::ptrdiff_t i) const { return change(from[i]); }
};
template <class F, class I>
auto make_transform_iterator(I from, F change) {
  using Raw = decltype(in_kernels(from));
  return ComputedIterator<Transformed<F, Raw>>(Transformed<F, Raw>{change, in_kernels(from)});
}

template <class T>
class device_vector;

/// An array of the host.
template <class T>
class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector() = default;
  host_vector(const std::vector<T>& from) : std::vector<T>(from) {}
  host_vector(const device_vector<T>& from) : std::vector<T>(from.size()) {
    if (from.size()) cudaMemcpy(this->data(), from.data().get(), from.size() * sizeof(T), cudaMemcpyDeviceToHost);
  }
};

/// An array of the device, whose elements are written when it is made.
template <class T>
class device_vector {
 public:
  using value_type = T;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;
  using reference = device_reference<T>;

  device_vector() = default;
  explicit device_vector(std::size_t n, const T& value = T()) { assign(std::vector<T>(n, value)); }
  device_vector(const std::vector<T>& from) { assign(from); }
  device_vector(std::initializer_list<T> from) { assign(std::vector<T>(from)); }
  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  device_vector(I first, I last) {
    std::vector<T> all;
    for (; first != last; ++first) all.push_back(static_cast<T>(*first));
    assign(all);
  }
  device_vector(const device_vector& from) : size_(from.size_) {
    allocate();
    if (size_) cudaMemcpy(p_, from.p_, size_ * sizeof(T), cudaMemcpyDeviceToDevice);
  }
  device_vector(device_vector&& from) noexcept { swap(from); }
  device_vector& operator=(device_vector from) { return swap(from), *this; }
  ~device_vector() { cudaFree(p_); }

  void swap(device_vector& other) noexcept { std::swap(p_, other.p_), std::swap(size_, other.size_); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  iterator begin() { return iterator(p_); }
  iterator end() { return iterator(p_ + size_); }
  const_iterator begin() const { return const_iterator(p_); }
  const_iterator end() const { return const_iterator(p_ + size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reference operator[](std::size_t i) { return reference(p_ + i); }
  T operator[](std::size_t i) const { return device_reference<const T>(p_ + i); }
  reference front() { return (*this)[0]; }
  reference back() { return (*this)[size_ - 1]; }
  device_ptr<T> data() { return device_ptr<T>(p_); }
  device_ptr<const T> data() const { return device_ptr<const T>(p_); }
  void resize(std::size_t n, const T& value = T()) {
    host_vector<T> all(*this);
    all.resize(n, value);
    *this = device_vector(all);
  }
  void push_back(const T& value) { resize(size_ + 1, value); }
  void clear() { *this = device_vector(); }
  void assign(const std::vector<T>& from) {
    size_ = from.size();
    allocate();
    if (size_) cudaMemcpy(p_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }

 private:
  void allocate() {
    if (size_) cudaMalloc(&p_, size_ * sizeof(T));
  }
  T* p_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace thrust
