#include "run/dump.hpp"

#include <algorithm>
#include <cctype>

#include "json/json.hpp"
#include "manifest/manifest.hpp"
#include "run/npy.hpp"
#include "system/files.hpp"

namespace zellige::run {

constexpr std::size_t max_letters = 120;

std::string file_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool allowed =
        byte < 128 && (std::isalnum(byte) || std::string_view("_-+=,@[]").find(c) != std::string::npos);
    text += allowed ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  if (text.size() > max_letters) text = text.substr(0, max_letters) + "~" + manifest::hash(name);
  return text.empty() ? "~" : text;
}

std::string FileNames::operator()(std::string_view name) {
  const std::string allowed = file_name(name);
  for (int n = 1;; ++n) {
    const std::string text = n == 1 ? allowed : fmt::format("{}~{}", allowed, n);
    if (taken_.insert(system::folded(text)).second) return text;
  }
}

void dump(Outputs& outputs, const std::filesystem::path& folder, const graph::KernelGraph& g,
          const reference::InputChoice& inputs, const reference::Reference* reference,
          const emit::EmittedProgram* program, const std::vector<Bytes>* storage) {
  system::create_folders(folder);
  FileNames names;
  std::vector<std::string> known;
  for (const graph::KernelTensor& t : g.tensors) known.push_back(names(t.name));
  try {
    outputs.put(folder / "graph.json", json::to_json(g));
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      const auto at = static_cast<std::size_t>(g.inputs[i]);
      const graph::KernelTensor& t = g.tensors[at];
      outputs.put(folder / fmt::format("input_{}.npy", known[at]),
                  npy(t.dtype, t.shape,
                      reference::input_part(g, inputs, static_cast<int>(i), reference::whole(t.shape)).values));
    }
    for (std::size_t i = 0; reference && i < g.tensors.size(); ++i) {
      const graph::KernelTensor& t = g.tensors[i];
      if (std::ranges::count(g.inputs, static_cast<int>(i)) > 0) continue;
      const bool output = std::ranges::count(g.outputs, static_cast<int>(i)) > 0;
      outputs.put(folder / fmt::format("{}_{}.reference.npy", output ? "output" : "intermediate", known[i]),
                  npy(t.dtype, t.shape, reference->tensors[i].values));
    }
    if (program) {
      const manifest::Manifest& m = program->manifest;
      for (std::size_t i = 0; i < m.tensors.size(); ++i) {
        const manifest::TensorPlace& t = m.tensors[i];
        if (t.role == manifest::Role::input || !storage) continue;
        const int at = graph_tensor(g, t);
        const std::string name = at < 0 ? names(t.name) : known[at];
        outputs.put(
            folder / fmt::format("{}_{}.npy", t.role == manifest::Role::output ? "output" : "intermediate", name),
            npy(t.dtype, at < 0 ? t.shape : g.tensors[at].shape, unpack(t, (*storage)[i])));
      }
      outputs.put(folder / (m.name + ".cu"), program->source);
      manifest::Manifest written = m;
      written.artefacts.push_back(manifest::artefact(m.name + ".cu", program->source));
      outputs.put(folder / (m.name + ".manifest.json"), manifest::to_json(written));
    }
    outputs.commit();
  } catch (...) {
    outputs.drop();
    throw;
  }
}

}  // namespace zellige::run
