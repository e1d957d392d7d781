// What a run saw, as files: FOLDER/GRAPH/ with graph.json, input_X0.npy, output_Y0.npy and output_Y0.reference.npy,
// intermediate_t3.npy and its reference, and the program as NAME.cu and NAME.manifest.json.
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

/// A part of a file name that says another name: letters, digits and _ - + = , @ [ ] stay, every other
/// character is %XX, and what is too long ends in ~ and a hash. Two names never give the same; but case may
/// be all that they differ in.
std::string file_name(std::string_view name);

/// Names that also a file system without case keeps apart: the second of such two gets ~2.
class FileNames {
 public:
  std::string operator()(std::string_view name);

 private:
  std::set<std::string> taken_;  // in lower case
};

/// `reference` is null where it did not run on the whole graph, `program` and `storage` where only it ran, `storage` where the program
/// did not end. All files or none; fails where one cannot be written.
void dump(Outputs&, const std::filesystem::path& folder, const graph::KernelGraph&, const graph::InputChoice&,
          const graph::Reference* reference, const emit::Program* program, const std::vector<Bytes>* storage);

}  // namespace zellige::run
