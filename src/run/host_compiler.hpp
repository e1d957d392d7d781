// Compiles CUDA source code to a shared library for the emulator, with g++ (or $ZELLIGE_CXX). Zellige's
// headers come from the binary: they are written into the cache under a name that is their content's hash.
#pragma once
#include <filesystem>
#include <string>

#include "run/cache.hpp"

namespace zellige::run {

struct HostLibrary {
  std::filesystem::path file;
  double compile_ms = 0;  // that of the original compilation if `cached`
  bool cached = false;
  std::string note;  // why an entry of the cache was not used; else ""
};

/// Path of the compiler; `who` is the component that needs it, for the error message.
std::string host_compiler(const std::string& who);

/// The include folder, which contains zellige/block.hpp.
std::filesystem::path header_folder(const Cache&);

/// Writes source code to a file NAME.cu in the cache, for compilers and for inspection.
std::filesystem::path source_file(const std::string& source, const std::string& name, const Cache&);

/// Throws Error if there is no compiler; throws with the first errors if it rejects the source code.
HostLibrary compile_for_emulator(const std::string& source, const std::string& name, const Cache&);

}  // namespace zellige::run
