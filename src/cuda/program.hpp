// Reads a CUDA program as C++, compiles it for the CPU and runs it on the emulator.
//
//   const CompiledSource program = compile({.source = "add.cu"}, toolchain::Cache::standard());
//   run_program(program, {"add.cu", "1024"}, {}, [](int status) { return status; });   // does not return
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cuda/session.hpp"
#include "toolchain/cache.hpp"

namespace zellige::cuda {

/// A program to compile.
struct ProgramSource {
  std::filesystem::path source;
  std::vector<std::string> folders{};  // of headers
  std::vector<std::string> macros{};   // "N=4"
  std::string standard = "c++20";
};

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

/// A compiled program: a shared library, and the files of its source, separated by newlines.
struct CompiledSource {
  std::filesystem::path library;
  std::string files;
};

/// Compiles a program, or finds it in the cache. Throws Error if it cannot be compiled, with the compiler's messages.
CompiledSource compile(const ProgramSource&, const toolchain::Cache&);

/// Runs the program's main with arguments, in this process, and ends the process with the exit status that `ended`
/// returns of the program's. `ended` is called when main has returned, or when the program calls exit().
[[noreturn]] void run_program(const CompiledSource&, std::vector<std::string> arguments, const EmulationOptions&,
                              std::function<int(int status)> ended);

}  // namespace zellige::cuda
