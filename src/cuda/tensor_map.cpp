#include <cstring>
#include <string>
#include <zellige/atom/make_tma_descriptor.hpp>

#include "cuda/access.hpp"
#include "cuda/ptx_machine.hpp"
#include "emulate/calls.hpp"

namespace zellige::cuda {

using emulate::Fiber;
using emulate::Finding;
using emulate::Site;
using emulate::TmaMap;

namespace {

constexpr int invalid_value = 1;  // CUDA_ERROR_INVALID_VALUE

TmaTensor tensor_of(const TensorMapCall& c, const char* name) {
  TmaTensor t;
  t.name = name;
  t.element = TmaElement(c.element);
  t.rank = int(c.rank);
  for (unsigned d = 0; d < std::min(c.rank, 5u); ++d) {
    t.extent[d] = std::int64_t(c.extents[d]);
    t.element_stride[d] = c.element_strides ? c.element_strides[d] : 1;
    if (c.box) t.box[d] = c.box[d];
    if (d) t.stride[d] = std::int64_t(c.strides[d - 1]);
  }
  t.swizzle = SwizzleMode(c.swizzle);
  t.interleave = TmaInterleave(c.interleave);
  t.promotion = TmaPromotion(c.promotion);
  t.nan_fill = c.fill != 0;
  t.im2col = c.lower != nullptr;
  for (unsigned d = 0; t.im2col && d + 2 < std::min(c.rank, 5u); ++d) t.lower[d] = c.lower[d], t.upper[d] = c.upper[d];
  t.channels = int(c.channels), t.pixels = int(c.pixels);
  return t;
}

}  // namespace

int encode_tensor_map(const TensorMapCall& c) {
  const Site site = ZELLIGE_SITE();
  const auto refuse = [&](const std::string& why) {
    session().report_host("tensor map", site, fmt::format("at \1: {}", why));
    return invalid_value;
  };
  const ProgramAllocation* const a = session().memory.near(c.address);
  if (!a || a->freed || !a->contains(c.address)) return refuse("its address is in no allocation of the device");
  const std::size_t offset = std::size_t(static_cast<const unsigned char*>(c.address) - a->begin());
  try {
    const TmaDescriptor made = make_tma_descriptor_emulated(tensor_of(c, a->name().c_str()), a->bytes(), offset);
    TmaMap map;
    std::memcpy(static_cast<void*>(&map), made.bytes, sizeof(map));
    map.offset = reinterpret_cast<std::uintptr_t>(c.address);  // until a launch: the address itself
    std::memset(c.map, 0, 128);
    std::memcpy(c.map, &map, sizeof(map));
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
  return 0;
}

TmaMap read_tensor_map(Fiber& f, const unsigned char* at, Site site) {
  TmaMap map;
  if (reinterpret_cast<std::uintptr_t>(at) % 64)
    f.home->stop(f, Finding::Kind::misaligned, nullptr, site,
                 "address of a tensor map: {} gives TMA one at \1 that is no multiple of 64", f.home->who(f.index));
  std::memcpy(static_cast<void*>(&map), at, sizeof(map));
  if (map.magic != TmaMap::mark)
    f.home->stop(f, Finding::Kind::instruction, nullptr, site,
                 "at \1, {} gives TMA an address at which cuTensorMapEncodeTiled has made no map",
                 f.home->who(f.index));
  const auto* const data = reinterpret_cast<const void*>(map.offset);
  const emulate::Place place = place_of(f, data, site);
  if (!place.region) refuse_address(f, data, "copies", site);
  map.region = place.region;
  map.offset = std::uint64_t(place.p - place.region->begin);
  return map;
}

}  // namespace zellige::cuda
