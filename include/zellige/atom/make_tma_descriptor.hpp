// Encodes TMA descriptors (CUtensorMap) on the host, for a GPU or for the emulator. Throws if the description of the
// tensor is invalid; the message has the name and value of the wrong field. The driver itself would report only
// "invalid argument", or accept the descriptor and let the kernel end with an illegal instruction.
//
//   TmaTensor x{.name = "X", .element = TmaElement::f16, .rank = 2, .extent = {k, m}, .stride = {0, 2 * k},
//               .box = {64, 128}, .swizzle = SwizzleMode::b128};              // innermost first; strides in bytes
//   TmaDescriptor map = make_tma_descriptor(x, device_pointer);               // for the GPU: through libcuda
//   TmaDescriptor twin = make_tma_descriptor_emulated(x, 2 * m * k);          // for the emulator: bytes of X
//
// Host code only: uses std::string and dlopen.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <zellige/atom/swizzle_mode.hpp>
#include <zellige/atom/tma_descriptor.hpp>
#include <zellige/emulate/tma_map.hpp>

namespace zellige {

using TmaElement = emulate::Element;

/// L2 promotion of a TMA access: the granularity in bytes with which L2 fetches. Same values as
/// CUtensorMapL2promotion.
enum class TmaPromotion : uint8_t { none, l2_64, l2_128, l2_256 };
/// Interleaved layout of the tensor in global memory. Same values as CUtensorMapInterleave.
enum class TmaInterleave : uint8_t { none, b16, b32 };

/// Describes a tensor in global memory and the box that one TMA instruction copies: the arguments of
/// cuTensorMapEncodeTiled or, if `im2col` is set, of cuTensorMapEncodeIm2col.
struct TmaTensor {
  const char* name = "tensor";
  TmaElement element = TmaElement::f16;
  int rank = 2;
  int64_t extent[5] = {1, 1, 1, 1, 1};  // elements, innermost first
  int64_t stride[5] = {};               // bytes; [0] is ignored: elements are contiguous
  // Elements of the tensor that the box spans. With an element stride s it copies every s-th of them.
  int64_t box[5] = {1, 1, 1, 1, 1};
  int64_t element_stride[5] = {1, 1, 1, 1, 1};
  SwizzleMode swizzle = SwizzleMode::none;
  TmaInterleave interleave = TmaInterleave::none;
  TmaPromotion promotion = TmaPromotion::l2_128;
  bool nan_fill = false;  // elements outside the tensor are read as NaN; false: as zero
  // im2col: channels are the innermost dimension, images the outermost, pixels those between. `box` is ignored.
  bool im2col = false;
  // im2col: corners of the pixels' bounding box, as offsets from the first pixel (lower) and the last one (upper).
  int lower[3] = {}, upper[3] = {};
  int channels = 0, pixels = 0;  // im2col: how many one instruction copies
};

inline int64_t tma_element_bytes(TmaElement e) { return emulate::element_bytes(e); }
inline const char* tma_swizzle_name(SwizzleMode s) {
  constexpr const char* names[] = {"none", "32 bytes", "64 bytes", "128 bytes"};
  return names[static_cast<int>(s)];
}

/// Returns the bytes that one TMA load writes to shared memory, including the fill of elements outside the tensor.
/// This is the count to announce to the mbarrier (expect_tx).
inline int64_t tma_box_bytes(const TmaTensor& t) {
  int64_t bytes = tma_element_bytes(t.element);
  if (t.im2col) return bytes * t.channels * t.pixels;
  bytes *= t.box[0];
  for (int d = 1; d < t.rank; ++d) bytes *= (t.box[d] + t.element_stride[d] - 1) / t.element_stride[d];
  return bytes;
}

/// Returns the size in bytes of the box in shared memory. With a swizzle, the rows of the box are 32, 64 or 128 bytes
/// apart, even if a row has fewer bytes; the padding after the last row is not counted.
inline int64_t tma_tile_bytes(const TmaTensor& t) {
  const int64_t line = (t.im2col ? t.channels : t.box[0]) * tma_element_bytes(t.element);
  const int64_t pitch = t.swizzle == SwizzleMode::none ? line : 16 << static_cast<int>(t.swizzle);
  return (tma_box_bytes(t) / line - 1) * pitch + line;
}

/// Checks `t` against the rules of the driver and the hardware, for a tensor at `address`. Returns a sentence that
/// names the first wrong field and its value, or "" if a descriptor can be encoded.
inline std::string tma_descriptor_error(const TmaTensor& t, uint64_t address) {
  const std::string who = std::string("TMA descriptor of ") + (t.name ? t.name : "a tensor") + ": ";
  const auto s = [](int64_t x) { return std::to_string(x); };
  const auto field = [&](const char* name, int d) { return std::string(name) + "[" + s(d) + "]"; };
  if (static_cast<unsigned>(t.element) > static_cast<unsigned>(TmaElement::tf32_ftz))
    return who + "element is " + s(static_cast<int>(t.element)) + "; there are types 0 to 12";
  for (const auto& [name, value, most] : {std::tuple{"swizzle", static_cast<int>(t.swizzle), 3},
                                          std::tuple{"interleave", static_cast<int>(t.interleave), 2},
                                          std::tuple{"promotion", static_cast<int>(t.promotion), 3}})
    if (value > most) return who + name + " is " + s(value) + "; there are modes 0 to " + s(most);
  if (t.rank < 1 || t.rank > 5) return who + "rank is " + s(t.rank) + "; it must be 1 to 5";
  if (t.interleave != TmaInterleave::none && t.rank < 3)
    return who + "rank is " + s(t.rank) + "; an interleaved layout needs at least 3";
  if (t.im2col && t.rank < 3) return who + "rank is " + s(t.rank) + "; im2col needs 3 to 5";
  const int64_t size = tma_element_bytes(t.element);
  const int64_t alignment = t.interleave == TmaInterleave::b32 ? 32 : 16;
  if (address % static_cast<uint64_t>(alignment))
    return who + "address is " + s(static_cast<int64_t>(address)) + "; it must be a multiple of " + s(alignment) +
           " bytes";
  for (int d = 0; d < t.rank; ++d)
    if (t.extent[d] < 1 || t.extent[d] > (int64_t{1} << 32))
      return who + field("extent", d) + " is " + s(t.extent[d]) + "; it must be 1 to 2^32";
  for (int d = 1; d < t.rank; ++d) {
    if (t.stride[d] % alignment)
      return who + field("stride", d) + " is " + s(t.stride[d]) + " bytes; it must be a multiple of " + s(alignment);
    if (t.stride[d] < 0 || t.stride[d] >= (int64_t{1} << 40))
      return who + field("stride", d) + " is " + s(t.stride[d]) + " bytes; it must be 0 to 2^40 - 1";
  }
  double bytes = static_cast<double>(t.extent[0]) * static_cast<double>(size);
  for (int d = 1; d < t.rank; ++d) bytes += static_cast<double>(t.extent[d] - 1) * static_cast<double>(t.stride[d]);
  if (bytes >= 0x1p62)
    return who + "extents and strides reach past 2^62 bytes, from extent[" + s(t.rank - 1) + "] " +
           s(t.extent[t.rank - 1]) + " and stride[" + s(t.rank - 1) + "] " + s(t.stride[t.rank - 1]);
  for (int d = 0; d < t.rank; ++d)
    if (t.element_stride[d] < 1 || t.element_stride[d] > 8)
      return who + field("element_stride", d) + " is " + s(t.element_stride[d]) + "; it must be 1 to 8";
  if (t.element_stride[0] != 1)
    return who + "element_stride[0] is " + s(t.element_stride[0]) +
           "; it must be 1: the hardware takes the innermost dimension's elements one after another";
  if (t.nan_fill && t.element < TmaElement::f16)
    return who + "nan_fill is set and element is " + s(static_cast<int>(t.element)) +
           ", an integer; only floats (6 to 12) have NaN";
  if (t.interleave == TmaInterleave::b32 && t.swizzle != SwizzleMode::b32)
    return who + "swizzle is " + tma_swizzle_name(t.swizzle) + "; an interleave of 32 bytes needs 32 bytes";
  const auto box_size_error = [&]() -> std::string {
    if (tma_box_bytes(t) >= (int64_t{1} << 20))
      return who + "the box has " + s(tma_box_bytes(t)) + " bytes; an mbarrier counts up to 2^20 - 1 in a phase";
    if (tma_tile_bytes(t) > 232448)
      return who + "the box takes " + s(tma_tile_bytes(t)) + " bytes of shared memory; a block may have 232448";
    return "";
  };
  const int64_t span = 16 << static_cast<int>(t.swizzle);
  if (!t.im2col) {
    for (int d = 0; d < t.rank; ++d)
      if (t.box[d] < 1 || t.box[d] > 256) return who + field("box", d) + " is " + s(t.box[d]) + "; it must be 1 to 256";
    const int64_t line = t.box[0] * size;
    if (t.interleave == TmaInterleave::none && line % 16)
      return who + "box[0] is " + s(t.box[0]) + " elements, " + s(line) +
             " bytes; a line of the box must be a multiple of 16 bytes";
    if (t.swizzle != SwizzleMode::none && t.interleave == TmaInterleave::none && line > span)
      return who + "box[0] is " + s(t.box[0]) + " elements, " + s(line) + " bytes; with a swizzle of " +
             tma_swizzle_name(t.swizzle) + " a line of the box may have " + s(span);
    return box_size_error();
  }
  const int64_t line = t.channels * size;
  if (t.channels < 1 || t.channels > 256) return who + "channels is " + s(t.channels) + "; it must be 1 to 256";
  if (t.pixels < 1 || t.pixels > 1024) return who + "pixels is " + s(t.pixels) + "; it must be 1 to 1024";
  if (line % 16)
    return who + "channels is " + s(t.channels) + ", " + s(line) + " bytes; it must be a multiple of 16 bytes";
  if (t.swizzle != SwizzleMode::none && line > span)
    return who + "channels is " + s(t.channels) + ", " + s(line) + " bytes; with a swizzle of " +
           tma_swizzle_name(t.swizzle) + " it may be " + s(span);
  const int pixel_dims = t.rank - 2;
  const int64_t reach = pixel_dims == 1 ? 32768 : pixel_dims == 2 ? 128 : 16;
  for (int d = 0; d < pixel_dims; ++d) {
    for (const auto& [name, corner] : {std::pair{"lower", t.lower[d]}, std::pair{"upper", t.upper[d]}})
      if (corner < -reach || corner >= reach)
        return who + field(name, d) + " is " + s(corner) + "; with " + s(t.rank) + " dimensions it must be " +
               s(-reach) + " to " + s(reach - 1);
    if (t.extent[d + 1] - 1 + t.upper[d] < t.lower[d])
      return who + field("upper", d) + " is " + s(t.upper[d]) + " and " + field("lower", d) + " is " + s(t.lower[d]) +
             ": no pixel of the " + s(t.extent[d + 1]) + " is left";
  }
  return box_size_error();
}

/// Returns the number of bytes that the tensor spans in global memory, from its first byte to its last, inclusive.
inline int64_t tma_tensor_bytes(const TmaTensor& t) {
  int64_t last = (t.extent[0] - 1) * tma_element_bytes(t.element);
  for (int d = 1; d < t.rank; ++d) last += (t.extent[d] - 1) * t.stride[d];
  return last + tma_element_bytes(t.element);
}

/// Returns the descriptor of the tensor at `device_address`, for a kernel on the GPU; the CUDA driver (libcuda.so.1)
/// encodes it. Throws std::runtime_error if `t` is invalid, the address is null, or there is no driver.
inline TmaDescriptor make_tma_descriptor(const TmaTensor& t, const void* device_address) {
  const auto address = reinterpret_cast<uint64_t>(device_address);
  if (const std::string error = tma_descriptor_error(t, address); !error.empty()) throw std::runtime_error(error);
  if (!device_address)
    throw std::runtime_error(std::string("TMA descriptor of ") + (t.name ? t.name : "a tensor") +
                             ": address is null; it must be the tensor's in the GPU's memory");
  using Tiled = int (*)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*,
                        int, int, int, int);
  using Im2col = int (*)(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const int*, const int*,
                         uint32_t, uint32_t, const uint32_t*, int, int, int, int);
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  const char* const name = t.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled";
  void* const function = driver ? dlsym(driver, name) : nullptr;
  if (!function)
    throw std::runtime_error(std::string("TMA descriptor of ") + t.name + ": the CUDA driver " +
                             (driver ? std::string("has no ") + name : "(libcuda.so.1) is not there"));
  uint64_t extent[5], stride[4] = {};
  uint32_t box[5], steps[5];
  for (int d = 0; d < t.rank; ++d) {
    extent[d] = static_cast<uint64_t>(t.extent[d]);
    box[d] = static_cast<uint32_t>(t.box[d]);
    steps[d] = static_cast<uint32_t>(t.element_stride[d]);
    if (d) stride[d - 1] = static_cast<uint64_t>(t.stride[d]);
  }
  TmaDescriptor map{};
  void* const where = const_cast<void*>(device_address);
  const int element = static_cast<int>(t.element), interleave = static_cast<int>(t.interleave),
            swizzle = static_cast<int>(t.swizzle), promotion = static_cast<int>(t.promotion);
  const auto rank = static_cast<uint32_t>(t.rank);
  const int status =
      t.im2col ? reinterpret_cast<Im2col>(function)(&map, element, rank, where, extent, stride, t.lower, t.upper,
                                                    static_cast<uint32_t>(t.channels), static_cast<uint32_t>(t.pixels),
                                                    steps, interleave, swizzle, promotion, t.nan_fill)
               : reinterpret_cast<Tiled>(function)(&map, element, rank, where, extent, stride, box, steps, interleave,
                                                   swizzle, promotion, t.nan_fill);
  if (status != 0)
    throw std::runtime_error(std::string("TMA descriptor of ") + t.name + ": " + name + " refuses it with error " +
                             std::to_string(status));
  return map;
}

/// Caches one descriptor. A call encodes it if it is the first one, or if `device_address` or the extents of `t` differ from
/// those of the call before. Other changes of `t`, or of the current GPU, do not update the cached descriptor.
class TmaDescriptorAt {
 public:
  const TmaDescriptor& operator()(const TmaTensor& t, const void* device_address) {
    bool same = address_ && device_address == address_;
    for (int d = 0; d < 5; ++d) same = same && extent_[d] == t.extent[d];
    if (same) return map_;
    map_ = make_tma_descriptor(t, device_address), address_ = device_address;
    for (int d = 0; d < 5; ++d) extent_[d] = t.extent[d];
    return map_;
  }

 private:
  const void* address_ = nullptr;
  int64_t extent_[5] = {};
  TmaDescriptor map_{};
};

/// Returns a descriptor for a kernel on the emulator. The described tensor begins `offset` bytes into a buffer of
/// `tensor_bytes` bytes, which the launch passes as an emulate::LaunchParameter. Throws std::runtime_error if `t` is
/// invalid, reaches beyond the buffer, or is interleaved, which the emulator does not support.
inline TmaDescriptor make_tma_descriptor_emulated(const TmaTensor& t, uint64_t tensor_bytes, uint64_t offset = 0) {
  std::string error = tma_descriptor_error(t, offset);
  const auto needed = offset + static_cast<uint64_t>(tma_tensor_bytes(t));
  if (error.empty() && needed > tensor_bytes)
    error = std::string("TMA descriptor of ") + t.name + ": extents and strides reach byte " + std::to_string(needed) +
            "; the tensor has " + std::to_string(tensor_bytes);
  if (error.empty() && t.interleave != TmaInterleave::none)
    error = std::string("TMA descriptor of ") + t.name + ": interleave is " +
            std::to_string(16 * static_cast<int>(t.interleave)) + " bytes; the emulator knows none only";
  if (!error.empty()) throw std::runtime_error(error);
  emulate::TmaMap map;
  map.magic = emulate::TmaMap::mark;
  map.rank = static_cast<uint8_t>(t.rank);
  map.element = t.element;
  map.swizzle = static_cast<uint8_t>(t.swizzle);
  map.im2col = t.im2col;
  map.nan_fill = t.nan_fill;
  map.offset = offset;
  for (int d = 0; d < t.rank; ++d) {
    map.extent[d] = static_cast<uint32_t>(t.extent[d] - 1);
    map.box[d] = static_cast<uint16_t>(t.box[d]);
    map.element_stride[d] = static_cast<uint8_t>(t.element_stride[d]);
    if (d) map.stride[d - 1] = static_cast<uint64_t>(t.stride[d]);
  }
  for (int d = 0; d < 3; ++d) {
    map.lower[d] = static_cast<int16_t>(t.lower[d]);
    map.upper[d] = static_cast<int16_t>(t.upper[d]);
  }
  map.channels = static_cast<uint16_t>(t.channels);
  map.pixels = static_cast<uint16_t>(t.pixels);
  TmaDescriptor descriptor{};
  std::memcpy(static_cast<void*>(&descriptor), static_cast<const void*>(&map), sizeof(map));
  return descriptor;
}

}  // namespace zellige
