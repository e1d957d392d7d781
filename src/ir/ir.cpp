#include "ir/ir.hpp"

#include <utility>

#include "graph/error.hpp"
#include "ir/check.hpp"
#include "kernel/index_width.hpp"
#include "kernel/launches.hpp"
#include "manifest/variants.hpp"
#include "plan/prove.hpp"
#include "predict/predict.hpp"
#include "verify/proofs.hpp"

namespace zellige::ir {

std::string print(File file) {
  Writer out;
  program(out, file);
  return out.str();
}

std::string print(const emit::EmittedProgram& p) {
  std::string text = print(File{.graph = p.graph.name,
                                .plan = p.plan,
                                .tiling = p.manifest.tiling,
                                .decomposed = p.manifest.decomposed,
                                .range = p.manifest.range,
                                .extents = p.extents});
  for (const emit::EmittedProgram& v : p.variants) text += "\n" + print(v);
  return text;
}

std::string print(const plan::Plan& p, const graph::ExtentNames& extents) {
  return print(File{.graph = p.program.name, .plan = p, .extents = extents});
}

std::string consequences(const plan::Plan& p) {
  std::string text;
  const std::vector<graph::KernelTensor>& tensors = p.program.tensors;
  for (const kernel::Kernel& k : p.kernels) {
    for (const int t : kernel::wide_tensors(k, p.program))
      text += fmt::format("# {}: {}: offsets in 64 bits\n", k.name(), tensors[t].name);
    text += fmt::format("# {}: a launch executes: {}\n", k.name(), predict::print(predict::predict(k)));
  }
  text += fmt::format("# workspace {} bytes\n", p.device.total);
  for (std::size_t t = 0; t < p.device.offset.size(); ++t)
    if (const std::int64_t begin = p.device.offset[t]; begin >= 0)
      text += fmt::format("#   [{}, {}) {}\n", begin, begin + p.device.bytes[t], tensors[t].name);
  return text;
}

namespace {

/// Returns in one sentence why the proof, or the emitter, does not take a program.
std::string sentence(const std::exception& e) {
  if (dynamic_cast<const std::out_of_range*>(&e)) return "a step needs what no line says";
  if (dynamic_cast<const std::bad_alloc*>(&e) || dynamic_cast<const std::length_error*>(&e))
    return "its numbers need more memory than the machine has";
  return e.what();
}

/// Returns the mistake that the message is about: in kernel `k` if there is one, otherwise where the source names first
/// what the message begins with, a kernel or a tensor.
Mistake mistake(const File& f, const std::string& file, std::size_t k, const std::string& message) {
  const std::vector<kernel::Kernel>& kernels = f.plan.kernels;
  for (std::size_t i = 0; k == kernels.size() && i < kernels.size(); ++i)
    if (message.starts_with(kernels[i].name() + ":") || message.starts_with(kernels[i].name() + " ")) k = i;
  if (k < kernels.size()) return {file, position(kernels[k], f.positions[k], message), message};
  Position at;
  std::size_t longest = 0;
  for (std::size_t t = 0; t < f.tensors.size(); ++t) {
    const std::string& name = f.plan.program.tensors[t].name;
    for (const char* before : {"tensor ", "output "})
      if (name.size() >= longest && message.starts_with(before + name)) at = f.tensors[t], longest = name.size();
  }
  return {file, at, message};
}

}  // namespace

File parse(std::string_view text, const std::string& file) {
  Reader in(text, file);
  File read;
  program(in, read);
  in.end();
  check(read, file);
  read.plan.program = plan::planned(read.plan);
  return read;
}

void verify(const File& f, const std::string& file) {
  const plan::Plan& plan = f.plan;
  std::size_t k = 0;
  try {
    for (; k < plan.kernels.size(); ++k) {
      kernel::Kernel kernel = plan.kernels[k];
      plan::check_limits(kernel.program, target::find(plan.target));
      verify::verify_tile_program(kernel.program);
      verify::verify_forms(kernel);
      plan::prove(kernel, plan.program, target::find(plan.target), true);
    }
    verify::verify_memory(plan.program);
    kernel::verify_launches(plan.kernels, plan.program);
    verify::verify_tensors(plan.program);
  } catch (const std::exception& e) {
    throw mistake(f, file, k, sentence(e));
  }
}

emit::EmittedProgram emit(File f) {
  f.plan.device = plan::place_tensors(f.plan.program, f.plan.kernels);
  tile::SizeList range = std::move(f.range);
  emit::EmittedProgram made = emit::from_plan(std::move(f.plan), f.graph, std::move(f.tiling), f.decomposed);
  made.manifest.range = std::move(range);
  made.extents = std::move(f.extents);
  return made;
}

namespace {

ReadProgram compile_one(std::string_view text, const std::string& file) {
  File f = parse(text, file);
  verify(f, file);
  check_complete(f, file);
  try {
    return {emit(f), file, f.positions, f.tensors};
  } catch (const std::exception& e) {  // what the proof takes for granted, such as the operands of an operator
    throw mistake(f, file, f.plan.kernels.size(), sentence(e));
  }
}

/// Returns the sources of a program and of its variants. Before each variant's is one line for each line before it in the file, without
/// anything, so that positions are those of the file.
std::vector<std::string> programs_in(std::string_view text) {
  constexpr std::string_view begin = "program ";
  std::vector<std::string> all{""};
  bool found = false;
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(begin) && std::exchange(found, true)) all.push_back(lines);
    all.back() += line;
    lines += '\n';
    at = end;
  }
  return all;
}

}  // namespace

ReadProgram compile(std::string_view text, const std::string& file) {
  const std::vector<std::string> programs = programs_in(text);
  if (programs.size() > manifest::max_variants)
    throw Mistake(file, {},
                  fmt::format("expected at most {} programs, found {}", manifest::max_variants, programs.size()));
  ReadProgram whole = compile_one(programs[0], file);
  whole.program.manifest.range.clear();  // of a variant that is a file of its own
  if (programs.size() == 1) return whole;
  std::vector<emit::EmittedProgram> variants;
  for (std::size_t i = 1; i < programs.size(); ++i) variants.push_back(compile_one(programs[i], file).program);
  try {
    whole.program = emit::with_variants(std::move(whole.program), std::move(variants));
  } catch (const Error& e) {
    throw Mistake(file, {}, e.what());
  }
  return whole;
}

}  // namespace zellige::ir
