// The device memory of one tensor, with a flag per byte for whether it has been written. Lives across
// launches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace zellige::emulate {

class Buffer {
 public:
  /// Poisoned: every byte 0xFF (a NaN in f16, bf16 and f32) and uninitialized.
  Buffer(std::string name, std::size_t bytes);
  /// The same inside other device memory, which must outlive it and which tensors share: each tensor has its
  /// own flags for its bytes.
  Buffer(std::string name, std::size_t bytes, unsigned char* within);

  const std::string& name() const { return name_; }
  std::size_t bytes() const { return bytes_; }
  unsigned char* data() { return data_; }  // aligned to 256 bytes, like device memory
  const unsigned char* data() const { return data_; }

  void mark_initialised();  // all of it
  void mark_initialised(std::size_t offset, std::size_t bytes);
  /// Makes bytes uninitialized and poison again: they belong to another tensor now.
  void forget(std::size_t offset, std::size_t bytes);
  void mark_padding() { padded_ = true; }  // bytes not marked as initialized hold no element
  bool padded() const { return padded_; }
  bool initialised(std::size_t offset, std::size_t bytes) const;
  void poison();  // restores the initial state

  /// One flag per byte, 1 if written; null once everything is initialized.
  std::uint8_t* flags() { return flags_.get(); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::string name_;
  std::size_t bytes_;
  std::unique_ptr<unsigned char[], Free> own_;
  unsigned char* data_ = nullptr;
  bool padded_ = false;
  std::unique_ptr<std::uint8_t[], Free> flags_;
};

}  // namespace zellige::emulate
