// Compiles a CUDA program for the CPU and runs it on the emulator.
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
