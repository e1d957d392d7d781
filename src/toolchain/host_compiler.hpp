// Compiles programs with g++, or the compiler in $ZELLIGE_CXX: to a shared library for the emulator, or to a shared object
// for C programs. Zellige's headers are embedded in the binary; they are written into the cache, to a folder named by the
// hash of their content.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "toolchain/cache.hpp"

namespace zellige::toolchain {

/// A program's library for the emulator, with how it was compiled.
struct HostLibrary {
  std::filesystem::path file;
  double compile_ms = 0;  // time of the compilation; that of the original one if `cached`
  bool cached = false;
  std::string note;  // what is wrong with an invalid cache entry; else ""
};

/// A temporary file in the cache, deleted by the destructor.
struct Scratch {
  Scratch(const Cache& cache, std::string_view suffix) : path(cache.scratch(suffix)) {}
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  const std::filesystem::path path;
};

/// Returns the path of the host's C++ compiler ($ZELLIGE_CXX, else g++). Throws Error if there is none; `who` needs it.
std::string host_compiler(const std::string& who);

/// Writes Zellige's headers into a folder of the cache, and returns it, for the compiler's option -I.
std::filesystem::path header_folder(const Cache&);

/// Writes source code to a file NAME.cu in the cache, for compilers and for inspection. Returns its path.
std::filesystem::path source_file(const std::string& source, const std::string& name, const Cache&);

/// Returns the value of the compiler's option -include for the source `headers`, a list of #include, if the compiler has parsed it
/// with these options and keeps that in the cache (a precompiled header). Returns "" otherwise: it is made for the third program
/// that asks for it, as it takes the time of a few programs and 50 MB, and by g++ only.
std::string precompiled(const std::string& headers, const std::vector<std::string>& options, const Cache&);

/// Compiles a program's source code to a library for the emulator, or finds the library in the cache. Throws Error if
/// there is no compiler. If the compiler rejects the source code, throws Fault with the first errors.
HostLibrary compile_for_emulator(const std::string& source, const std::string& name, const Cache&);

/// Builds the shared object of a program, which a C program links or opens by dlopen, and returns its bytes. It has the
/// cubin `cubin`, the program's machine code, and the function that NAME.h declares. It needs the C library, and loads
/// libcuda.so.1 on its first call. Throws Error if there is no compiler, and Fault if the compiler fails.
std::string shared_object(const manifest::Manifest&, const std::string& cubin, const Cache&);

}  // namespace zellige::toolchain
