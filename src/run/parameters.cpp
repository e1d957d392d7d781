#include "run/parameters.hpp"

#include "run/tensor_map.hpp"

namespace zellige::run {

emulate::Parameter parameter(const emit::Manifest& m, const emit::KernelLaunch& k, std::size_t argument,
                             emulate::Buffer& buffer) {
  const auto map = k.maps.find(static_cast<int>(argument));
  const emit::TensorPlace& tensor = m.tensors[static_cast<std::size_t>(k.tensors[argument])];
  emulate::Parameter parameter =
      map == k.maps.end() ? emulate::Parameter(buffer, k.writes[argument])
                          : emulate::Parameter(make_tma_descriptor_emulated(
                                                   tma_tensor(map->second, tensor.name), buffer.bytes()),
                                               buffer, k.writes[argument]);
  parameter.constant = tensor.constant;
  return parameter;
}

}  // namespace zellige::run
