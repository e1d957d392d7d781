#include "run/tensor_map.hpp"

#include "graph/error.hpp"
#include "target/swizzles.hpp"

namespace zellige::run {
namespace {

TmaElement element(graph::DType dtype) {
  constexpr std::pair<graph::DType, TmaElement> known[] = {{graph::DType::f16, TmaElement::f16},
                                                           {graph::DType::bf16, TmaElement::bf16},
                                                           {graph::DType::f32, TmaElement::f32}};
  for (const auto& [type, element] : known)
    if (type == dtype) return element;
  fail("tensor map: TMA has no element type for {}", graph::name(dtype));
}

}  // namespace

TmaTensor tma_tensor(const kernel::TensorMap& map, const std::string& name) {
  TmaTensor t;
  t.name = name.c_str();
  t.element = element(map.dtype);
  t.rank = static_cast<int>(map.extent.size());
  for (std::size_t d = 0; d < map.extent.size(); ++d)
    t.extent[d] = map.extent[d], t.stride[d] = map.stride[d], t.box[d] = map.box[d];
  t.swizzle = target::swizzle_of(map.swizzle_bytes);
  return t;
}

}  // namespace zellige::run
