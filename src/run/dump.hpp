// What a run saw, as files: FOLDER/GRAPH/ with input_X0.npy, output_Y0.npy and output_Y0.reference.npy,
// intermediate_t3.npy and its reference, and the program as NAME.cu and NAME.json.
#pragma once
#include <filesystem>
#include <vector>

#include "emit/emit.hpp"
#include "graph/inputs.hpp"
#include "run/storage.hpp"

namespace zellige::run {

/// `program` and `storage` are null where only the reference ran. Fails where a file cannot be written.
void dump(const std::filesystem::path& folder, const graph::KernelGraph&, const graph::RandomInputs&,
          const emit::Program* program, const std::vector<Bytes>* storage);

}  // namespace zellige::run
