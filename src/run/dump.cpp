#include "run/dump.hpp"

#include <algorithm>
#include <cctype>

#include "run/files.hpp"
#include "run/npy.hpp"

namespace zellige::run {
namespace {

// "lora[0]" -> "lora_0": names come from files, and may hold anything.
std::string file_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-'; }, '_');
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "graph" : name;
}

std::string_view role_of(const graph::KernelGraph& g, int tensor) {
  auto has = [&](const std::vector<int>& list) {
    return std::find(list.begin(), list.end(), tensor) != list.end();
  };
  return has(g.inputs) ? "input" : has(g.outputs) ? "output" : "intermediate";
}

}  // namespace

void dump(const std::filesystem::path& folder, const graph::KernelGraph& g, const graph::RandomInputs& inputs,
          const emit::Program* program, const std::vector<Bytes>* storage) {
  const std::filesystem::path to = folder / file_name(g.name);
  create_folders(to);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const graph::KernelTensor& t = g.tensors[static_cast<std::size_t>(g.inputs[i])];
    write_whole(to / ("input_" + file_name(t.name) + ".npy"), npy(t.dtype, t.shape, inputs.arrays[i].values));
  }
  for (std::size_t i = 0; i < g.tensors.size(); ++i) {
    const graph::KernelTensor& t = g.tensors[i];
    const std::string role(role_of(g, static_cast<int>(i)));
    if (role == "input") continue;
    write_whole(to / (role + "_" + file_name(t.name) + ".reference.npy"),
                npy(t.dtype, t.shape, inputs.reference.tensors[i].values));
  }
  if (!program) return;
  const emit::Manifest& m = program->manifest;
  for (std::size_t i = 0; i < m.tensors.size(); ++i) {
    const emit::TensorPlace& t = m.tensors[i];
    if (t.role == emit::Role::input) continue;
    const std::string role = t.role == emit::Role::output ? "output" : "intermediate";
    write_whole(to / (role + "_" + file_name(t.name) + ".npy"),
                npy(t.dtype, t.shape, unpack(t, (*storage)[i])));
  }
  write_whole(to / (m.name + ".cu"), program->source);
  write_whole(to / (m.name + ".json"), emit::to_json(m));
}

}  // namespace zellige::run
