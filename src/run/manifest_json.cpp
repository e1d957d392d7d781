// The text of NAME.json: docs/manifest.md says what each field means.
#include <nlohmann/json.hpp>

#include "emit/manifest.hpp"

namespace zellige::emit {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name(Role role) {
  constexpr std::string_view names[] = {"input", "output", "intermediate"};
  return names[static_cast<int>(role)];
}

Json json(const TensorPlace& t) {
  Json j{{"name", t.name}, {"dtype", graph::name(t.dtype)}, {"shape", t.shape}, {"strides", t.strides},
         {"role", name(t.role)}, {"bytes", t.bytes}};
  if (t.role == Role::intermediate) {
    j["offset"] = t.offset;
  } else {
    j["position"] = t.position;
  }
  return j;
}

Json json(const Manifest& m, const KernelLaunch& k) {
  Json arguments = Json::array();
  for (std::size_t i = 0; i < k.tensors.size(); ++i) {
    arguments.push_back({{"tensor", m.tensors[static_cast<std::size_t>(k.tensors[i])].name},
                         {"access", k.writes[i] ? "write" : "read"}});
  }
  return {{"name", k.name}, {"grid", {k.grid.x, k.grid.y, k.grid.z}}, {"block", {k.block.x, k.block.y, k.block.z}},
          {"shared_bytes", k.shared_bytes}, {"arguments", arguments}};
}

// One tensor and one kernel a line: to be read by people too.
std::string lines(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "\n    " : ",\n    ") + item.dump();
  return "[" + text + (list.empty() ? "]" : "\n  ]");
}

}  // namespace

std::string to_json(const Manifest& m) {
  Json tensors = Json::array(), kernels = Json::array();
  for (const TensorPlace& t : m.tensors) tensors.push_back(json(t));
  for (const KernelLaunch& k : m.kernels) kernels.push_back(json(m, k));
  return fmt::format("{{\n  \"zellige_manifest\": 1,\n  \"name\": {},\n  \"target\": {},\n  \"buffer_size\": {},\n"
                     "  \"tensors\": {},\n  \"kernels\": {}\n}}\n",
                     Json(m.name).dump(), Json(m.target).dump(), m.buffer_size, lines(tensors), lines(kernels));
}

}  // namespace zellige::emit
