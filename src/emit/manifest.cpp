#include "emit/manifest.hpp"

#include "emit/seal.hpp"

namespace zellige::emit {
namespace {

/// Returns the bytes as hexadecimal digits, two per byte.
std::string digits(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// Returns the estimated time of a kernel as JSON, with all quantities from which cost::time_of computes it:
/// bench/fit_price.py computes it again.
graph::Json cost_json(const cost::KernelCost& k) {
  return {{"us", k.us},
          {"launched", k.launched},
          {"first_kernel", k.first_kernel},
          {"blocks_each", k.blocks_each},
          {"most", k.blocks_of_busiest},
          {"waves", k.waves},
          {"warp_specialized", k.warp_specialized},
          {"stalls", k.stalls},
          {"matmuls", k.matmuls},
          {"chained", k.chained},
          {"dram_bytes", k.dram_bytes},
          {"dram_runs", k.dram_runs},
          {"received_bytes", k.received_bytes},
          {"narrow_copies", k.narrow_copies},
          {"requests", k.requests},
          {"multicasts", k.multicasts},
          {"l2_bytes", k.l2_bytes},
          {"served_bytes", k.served_bytes},
          {"wavefronts", k.wavefronts},
          {"tensor_cycles", k.tensor_cycles},
          {"slots", k.slots},
          {"trips", k.trip_count},
          {"in_flight", k.in_flight},
          {"chain", k.chain},
          {"warps", k.warps},
          {"barriers", k.barriers},
          {"rounds", k.rounds},
          {"tiles", k.tiles},
          {"values", k.values},
          {"exchanged_bytes", k.exchanged_bytes}};
}

}  // namespace

std::string_view name(Role role) {
  return role == Role::input ? "input" : role == Role::output ? "output" : "intermediate";
}

std::vector<std::int64_t> parameter_bytes(const KernelLaunch& k) {
  constexpr std::int64_t pointer = 8, descriptor = 128;
  std::vector<std::int64_t> all(k.tensors.size(), pointer);
  for (const auto& [at, map] : k.maps) all[at] = descriptor;
  for (const auto& [at, bytes] : k.constants) all[at] = static_cast<std::int64_t>(bytes.size());
  return all;
}

std::string to_json(const Manifest& m) {
  using graph::Json;
  Json root;
  root["version"] = manifest_version;
  root["hash"] = "";
  root["zellige"] = m.zellige.empty() ? ZELLIGE_VERSION : m.zellige;
  if (!m.nvrtc.empty()) root["nvrtc"] = m.nvrtc;
  root["name"] = m.name;
  root["target"] = m.target;
  root["buffer_size"] = m.buffer_size;
  if (m.decomposed) root["apart"] = true;
  root["tiling"] = Json::parse(retile::to_json(m.tiling));
  root["artefacts"] = Json::array();
  for (const Artefact& a : m.artefacts) root["artefacts"].push_back(to_json(a));
  root["tensors"] = Json::array();
  for (const TensorPlace& t : m.tensors) {
    Json j;
    j["name"] = t.name;
    j["role"] = name(t.role);
    if (t.position >= 0) j["position"] = t.position;
    if (t.constant) j["constant"] = true;
    j["dtype"] = graph::name(t.dtype);
    j["shape"] = t.shape;
    j["strides"] = t.strides;
    j["bytes"] = t.bytes;
    j["padding"] = t.bytes - graph::bytes_of(graph::size(t.shape), t.dtype);
    if (t.offset >= 0) j["offset"] = t.offset;
    if (t.memory >= 0) j["memory"] = m.tensors[t.memory].name;
    root["tensors"].push_back(std::move(j));
  }
  root["kernels"] = Json::array();
  for (const KernelLaunch& k : m.kernels) {
    Json j;
    j["name"] = k.name;
    j["grid"] = {k.grid.x, k.grid.y, k.grid.z};
    j["block"] = {k.block.x, k.block.y, k.block.z};
    j["shared_bytes"] = k.shared_bytes;
    if (k.cluster > 1) j["cluster"] = {k.cluster, 1, 1};
    if (k.programmatic) j["programmatic"] = true;
    j["arguments"] = Json::array();
    const std::vector<std::int64_t> sizes = parameter_bytes(k);
    for (std::size_t i = 0; i < k.tensors.size(); ++i) {
      if (const auto constant = k.constants.find(static_cast<int>(i)); constant != k.constants.end())
        j["arguments"].push_back({{"bytes", digits(constant->second)}});
      else
        j["arguments"].push_back(
            {{"tensor", m.tensors[k.tensors[i]].name}, {"writes", static_cast<bool>(k.writes[i])}});
      j["arguments"].back()["size"] = sizes[i];
    }
    for (const auto& [argument, map] : k.maps)
      j["arguments"][argument]["tensor_map"] = {
          {"extent", map.extent}, {"stride", map.stride}, {"box", map.box}, {"swizzle", map.swizzle_bytes}};
    j["price"] = cost_json(k.cost);
    root["kernels"].push_back(std::move(j));
  }
  return seal(std::move(root));
}

}  // namespace zellige::emit
