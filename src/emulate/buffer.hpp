// Device memory of one tensor, with a flag a byte that tells whether anybody has written it. Lives across
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
  /// Poisoned: every byte 0xFF (a NaN in f16, bf16 and f32) and uninitialised.
  Buffer(std::string name, std::size_t bytes);
  /// The same in the middle of other device memory, which lives longer and which tensors share: what is known of
  /// its bytes is each tensor's own.
  Buffer(std::string name, std::size_t bytes, unsigned char* within);

  const std::string& name() const { return name_; }
  std::size_t bytes() const { return bytes_; }
  unsigned char* data() { return data_; }  // aligned to 256 bytes, as device memory is
  const unsigned char* data() const { return data_; }

  void mark_initialised();  // all of it
  void mark_initialised(std::size_t offset, std::size_t bytes);
  /// Uninitialised again, and poison: the bytes are another tensor's now.
  void forget(std::size_t offset, std::size_t bytes);
  void mark_padding() { padded_ = true; }  // what is not marked as initialised holds no element
  bool padded() const { return padded_; }
  bool initialised(std::size_t offset, std::size_t bytes) const;
  void poison();  // as if new

  /// One byte a byte, 1 where written; null once all of it is initialised.
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
