// Writes the tensors and the source code of a run to the folder FOLDER/GRAPH, for inspection and bug reports:
// graph.json, NAME.cu and NAME.manifest.json, input_X0.npy, output_Y0.npy with output_Y0.reference.npy, and
// intermediate_t3.npy with its reference.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emit/emit.hpp"
#include "reference/inputs.hpp"
#include "run/outputs.hpp"
#include "run/storage.hpp"

namespace zellige::run {

/// Returns the name of a tensor or graph in a form that can be part of a file name. Letters, digits and _ - +
/// = , @ [ ] are kept, and other characters become %XX. A long name is truncated and gets ~ and a hash.
/// Different names give different results, but these may differ in case only.
std::string file_name(std::string_view name);

/// Makes file names that differ even on a file system that ignores case: the second of two such names gets ~2.
class FileNames {
 public:
  /// Returns the file name for `name`. It differs from all file names returned before, also if case is ignored.
  std::string operator()(std::string_view name);

 private:
  std::set<std::string> taken_;  // in lower case
};

/// Writes the tensors and the source code of a run to `folder`: all files or none. Throws Error if one cannot be
/// written. `reference` is null if the reference evaluation did not cover the whole graph; `program` is null if no
/// program ran; `storage` (the bytes of the manifest's tensors) is null if the program did not finish.
void dump(Outputs&, const std::filesystem::path& folder, const graph::KernelGraph&, const reference::InputChoice&,
          const reference::Reference* reference, const emit::EmittedProgram* program,
          const std::vector<Bytes>* storage);

}  // namespace zellige::run
