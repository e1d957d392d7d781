// CUDA text to a shared library for the emulator, by g++ (or what $ZELLIGE_CXX names). Zellige's headers come
// from the binary: they are written into the cache under a name that is their content's hash.
#pragma once
#include <filesystem>
#include <string>

#include "run/cache.hpp"

namespace zellige::run {

struct HostLibrary {
  std::filesystem::path file;
  double compile_ms = 0;  // as it was when the entry was made if `cached`
  bool cached = false;
  std::string note;  // of an entry of the cache that was not used, and why; "" else
};

/// Its path; `who` asks, as the message where there is none says.
std::string host_compiler(const std::string& who);

/// The folder to compile against, with zellige/block.hpp in it.
std::filesystem::path header_folder(const Cache&);

/// A text as a file in the cache, for compilers, and for people to look at: NAME.cu.
std::filesystem::path source_file(const std::string& source, const std::string& name, const Cache&);

/// Compiles; fails where there is no compiler, and with the first errors where it refuses the text.
HostLibrary compile_for_emulator(const std::string& source, const std::string& name, const Cache&);

}  // namespace zellige::run
