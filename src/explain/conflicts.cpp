#include "explain/conflicts.hpp"

#include <zellige/layout/algebra/swizzle.hpp>

#include "predict/predict.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::explain {
namespace {

std::string bits(int first, int count) {
  return count == 1 ? fmt::format("bit {}", first) : fmt::format("bits {} to {}", first, first + count - 1);
}

/// Returns the strides of the tile's rows one after another, where each begins at a multiple of 16 bytes.
graph::Strides dense_strides(const kernel::SmemTensor& t) {
  graph::Strides all(t.padded.size(), 1);
  const std::int64_t inner = t.padded[t.inner];
  std::int64_t pitch = inner > 1 ? tile::ceil_div(inner, t.chunk()) * t.chunk() : 1;
  for (int d = t.rank() - 1; d >= 0; --d)
    if (d != t.inner) all[d] = pitch, pitch *= t.padded[d];
  return all;
}

/// Returns by how many elements a row is longer than it needs to be; 0 if the rows are in several boxes.
std::int64_t padding(const kernel::SmemTensor& t) {
  const graph::Strides dense = dense_strides(t);
  if (t.boxes() > 1 || t.padded[t.inner] <= 1) return 0;
  for (int d = t.rank() - 1; d >= 0; --d)
    if (d != t.inner && t.padded[d] > 1) return t.stride(d) - dense[d];
  return 0;
}

std::string of_swizzle(const kernel::SmemTensor& t) {
  const values::View layout = t.layout;
  const algebra::Bits b = algebra::bits_of(layout[0]);
  return fmt::format(
      "Swizzled: {} of an element's offset {} XORed with {}, so that chunks of {} bytes of {} rows one after another "
      "lie in "
      "different banks",
      bits(b.base, b.bits), b.bits == 1 ? "is" : "are", bits(b.base + b.shift, b.bits),
      graph::bytes_of(std::int64_t{1} << b.base, t.dtype), 1 << b.bits);
}

}  // namespace

std::uint64_t wavefronts(const kernel::Kernel& k) {
  std::uint64_t all = 0;
  for (const auto& [counter, n] : predict::predict(k))
    if (std::string_view(emulate::name(counter)).ends_with("_wavefronts")) all += n;
  return all;
}

LayoutReason layout_reason(const kernel::Kernel& k, int tensor) {
  const kernel::SmemTensor& t = k.tensors[tensor];
  const std::int64_t longer = padding(t);
  if (!t.swizzled() && longer == 0)
    return {graph::size(t.padded) == t.padded[t.inner] ? "One row, which is read as it lies"
                                                       : "Rows one after another, without swizzle or padding"};
  kernel::Kernel other = k;
  other.tensors[tensor].layout = t.boxes() > 1 ? Value(t.tile()) : kernel::strided(t.padded, dense_strides(t));
  LayoutReason all{.wavefronts = wavefronts(k), .dense = wavefronts(other)};
  const std::string_view without = t.swizzled() && longer != 0 ? "swizzle and padding"
                                   : t.swizzled()              ? "the swizzle"
                                                               : "the padding";
  all.text = t.swizzled() ? of_swizzle(t) : "";
  if (longer != 0)
    all.text += fmt::format("{} {} elements longer than they need to be",
                            t.swizzled() ? "; rows are" : "Padded: rows are", longer);
  const bool by_tma = t.swizzle_reason.find("TMA") != std::string::npos;
  all.text +=
      all.dense != all.wavefronts
          ? fmt::format(
                ". The kernel's accesses to shared memory take {} wavefronts a launch; without {} they would take {}",
                all.wavefronts, without, all.dense)
      : by_tma ? ". TMA and wgmma address it so; their accesses are not among the wavefronts that are predicted"
               : fmt::format(". The kernel's accesses take as many wavefronts without {}", without);
  return all;
}

}  // namespace zellige::explain
