#include "emulate/buffer.hpp"

#include <cstring>
#include <utility>

#include "graph/error.hpp"

namespace zellige::emulate {

Buffer::Buffer(std::string name, std::size_t bytes) : name_(std::move(name)), bytes_(bytes) {
  const std::size_t rounded = (bytes + 511) / 256 * 256;  // never empty
  own_.reset(static_cast<unsigned char*>(std::aligned_alloc(256, rounded)));
  data_ = own_.get();
  if (!data_) fail("tensor {}: {} bytes of device memory are more than this machine can give", name_, bytes);
  poison();
}

Buffer::Buffer(std::string name, std::size_t bytes, unsigned char* within)
    : name_(std::move(name)), bytes_(bytes), data_(within) {
  poison();
}

void Buffer::poison() {
  std::memset(data_, 0xFF, bytes_);
  flags_.reset(static_cast<std::uint8_t*>(std::calloc(bytes_ + 16, 1)));
  if (!flags_) fail("tensor {}: {} bytes of device memory are more than this machine can give", name_, bytes_);
}

void Buffer::mark_initialised() { flags_.reset(); }

void Buffer::mark_initialised(std::size_t offset, std::size_t bytes) {
  if (offset > bytes_ || bytes > bytes_ - offset)
    fail("tensor {}: bytes {}..{} cannot be marked, the tensor has {}", name_, offset, offset + bytes, bytes_);
  if (flags_) std::memset(flags_.get() + offset, 1, bytes);
}

void Buffer::forget(std::size_t offset, std::size_t bytes) {
  if (offset > bytes_ || bytes > bytes_ - offset)
    fail("tensor {}: bytes {}..{} cannot be forgotten, the tensor has {}", name_, offset, offset + bytes, bytes_);
  if (!flags_) fail("tensor {}: it was initialised for good and cannot be forgotten", name_);
  for (std::size_t i = offset; i < offset + bytes; ++i)
    if (std::exchange(flags_[i], std::uint8_t(0))) data_[i] = 0xFF;
}

bool Buffer::initialised(std::size_t offset, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    fail("tensor {}: bytes {}..{} do not exist, the tensor has {}", name_, offset, offset + bytes, bytes_);
  return !flags_ || !std::memchr(flags_.get() + offset, 0, bytes);
}

}  // namespace zellige::emulate
