// Reads a CUDA program, one file and the headers that it includes, as C++.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace zellige::cuda {

/// A source or header of a program, as C++.
struct TranslatedFile {
  std::string name;  // of the file to write: unique among the program's
  std::string from;  // the file that was read
  std::string text;
};

/// Returns a program's files, the source first. Headers are those that lie next to the file that includes them, or in one
/// of the folders; their includes name the files to write. CUDA's own headers are left out. Throws Error if a file
/// cannot be read, or has what the emulator cannot run.
std::vector<TranslatedFile> translate(const std::filesystem::path& source, const std::vector<std::string>& folders);

}  // namespace zellige::cuda
