#include "run/parameters.hpp"

#include "run/tensor_map.hpp"

namespace zellige::run {

emulate::Parameter parameter(const emit::Manifest& m, const emit::KernelLaunch& k, std::size_t argument,
                             emulate::Buffer& buffer) {
  const auto map = k.maps.find(static_cast<int>(argument));
  if (map == k.maps.end()) return {buffer, k.writes[argument]};
  const std::string& name = m.tensors[static_cast<std::size_t>(k.tensors[argument])].name;
  return {make_tma_descriptor_emulated(tma_tensor(map->second, name), buffer.bytes()), buffer,
          k.writes[argument]};
}

}  // namespace zellige::run
