// Writes the tensors and source code of a run to files: FOLDER/GRAPH/ with graph.json, input_X0.npy,
// output_Y0.npy and output_Y0.reference.npy, intermediate_t3.npy and its reference, and the program as
// NAME.cu and NAME.manifest.json.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emit/emit.hpp"
#include "graph/inputs.hpp"
#include "run/outputs.hpp"
#include "run/storage.hpp"

namespace zellige::run {

/// Encodes a name as a part of a file name: letters, digits and _ - + = , @ [ ] stay, every other character
/// becomes %XX, and a name that is too long ends in ~ and a hash. Different names give different results,
/// which may differ in case only.
std::string file_name(std::string_view name);

/// Makes names that differ on a case-insensitive file system too: the second of two such names gets ~2.
class FileNames {
 public:
  std::string operator()(std::string_view name);

 private:
  std::set<std::string> taken_;  // in lower case
};

/// `reference` is null if it did not run on the whole graph, `program` and `storage` if only the reference
/// ran, `storage` if the program did not finish. Writes all files or none; throws if one cannot be written.
void dump(Outputs&, const std::filesystem::path& folder, const graph::KernelGraph&, const graph::InputChoice&,
          const graph::Reference* reference, const emit::Program* program, const std::vector<Bytes>* storage);

}  // namespace zellige::run
