#include "run/tensor_map.hpp"

#include "graph/error.hpp"

namespace zellige::run {
namespace {

TmaElement element(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::f16:
      return TmaElement::f16;
    case graph::DType::bf16:
      return TmaElement::bf16;
    case graph::DType::f32:
      return TmaElement::f32;
    default:
      break;
  }
  fail("tensor map: TMA has no element type for {}", graph::name(dtype));
}

}  // namespace

TmaTensor tma_tensor(const plan::TensorMap& map, const std::string& name) {
  TmaTensor t;
  t.name = name.c_str();
  t.element = element(map.dtype);
  t.rank = static_cast<int>(map.extent.size());
  for (std::size_t d = 0; d < map.extent.size(); ++d)
    t.extent[d] = map.extent[d], t.stride[d] = map.stride[d], t.box[d] = map.box[d];
  t.swizzle = map.swizzle_bytes == plan::span_bytes ? SwizzleMode::b128
              : map.swizzle_bytes == 64             ? SwizzleMode::b64
                                                    : SwizzleMode::none;
  return t;
}

}  // namespace zellige::run
