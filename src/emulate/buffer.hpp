// Holds a tensor in the emulated device memory, with a flag for each byte that says whether the byte has been
// written. Buffers keep their content from launch to launch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace zellige::emulate {

/// The emulated device memory of one tensor, with a flag per byte for written bytes. Functions with a range
/// throw Error if it exceeds the tensor.
class Buffer {
 public:
  /// Allocates memory; every byte is uninitialized and 0xFF, which makes a NaN in f16, bf16 and f32. Throws
  /// Error if the machine has too little memory.
  Buffer(std::string name, std::size_t bytes);
  /// Uses memory at `within`, which must outlive the buffer. Several buffers may share it; each has flags of its own.
  Buffer(std::string name, std::size_t bytes, unsigned char* within);

  const std::string& name() const { return name_; }
  std::size_t bytes() const { return bytes_; }
  unsigned char* data() { return data_; }  // aligned to 256 bytes, as by cudaMalloc, unless `within` is not
  const unsigned char* data() const { return data_; }

  void mark_initialised();  // the complete tensor, for good
  void mark_initialised(std::size_t offset, std::size_t bytes);
  /// Marks a range of bytes as uninitialized and sets them to 0xFF, because another tensor has been written
  /// to the same memory. Throws Error after mark_initialised().
  void forget(std::size_t offset, std::size_t bytes);
  // Declares that all bytes which are not marked as initialized are padding between elements. The message
  // about a read of such a byte then says so.
  void mark_padding() { padded_ = true; }
  bool padded() const { return padded_; }
  bool initialised(std::size_t offset, std::size_t bytes) const;
  void poison();  // resets the buffer to its initial state

  /// Returns one flag per byte, 1 if written; null after mark_initialised().
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
