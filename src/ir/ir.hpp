// The textual form of a program, NAME.ir: its tensors, then its kernels in launch order, as docs/reference/kernel-ir.md shows.
// `zellige transpile --emit ir` prints it; `zellige emit FILE.ir` compiles one, also after someone has edited it.
//
//   const std::string text = ir::print(run::transpile(graph, target));
//   emit::EmittedProgram program = ir::compile(text, "mlp.ir").program;    // parsed, verified, priced and emitted
//
// print(parse(print(p))) is print(p), and what is emitted of it is the same.
#pragma once
#include <string>
#include <string_view>

#include "emit/emit.hpp"
#include "ir/sections.hpp"

namespace zellige::ir {

std::string print(const emit::EmittedProgram&);
std::string print(const plan::Plan&, const graph::ExtentNames& = {});
std::string print(File);
/// Returns what follows from a plan, in comments: which offsets take 64 bits, what a launch of each kernel executes, and
/// where intermediate tensors are in the workspace. `--explain` prints them after the source.
std::string consequences(const plan::Plan&);

/// Returns what the source says. `file` names it in messages. Throws Mistake where the source is no program.
File parse(std::string_view text, const std::string& file);

/// Throws Mistake if the proof rejects the plan, or if the target lacks what it needs. The position is that of the line that
/// the message is about.
void verify(const File&, const std::string& file);

/// A program that was read, and where the source says what.
struct ReadProgram {
  emit::EmittedProgram program;
  std::string file;                        // in messages
  std::vector<KernelPositions> positions;  // by kernel
  std::vector<Position> tensors;           // of tensors in device memory
};
/// Returns the program: what `zellige emit` writes. Throws Mistake as parse() and verify() do.
ReadProgram compile(std::string_view text, const std::string& file);

/// Returns the program of a source that is verified already.
emit::EmittedProgram emit(File);

}  // namespace zellige::ir
