#include <algorithm>

#include "emit/host_text.hpp"
#include "emit/names.hpp"
#include "emit/size_text.hpp"
#include "manifest/variants.hpp"

namespace zellige::emit {
namespace {

constexpr int tensor_alignment = 16, workspace_alignment = 256;  // bytes

/// Returns the tensors that are arguments of run_NAME, the C function that launches the program, in order:
/// all inputs, then those outputs that do not overwrite an input.
std::vector<const manifest::TensorPlace*> callers_tensors(const manifest::Manifest& m) {
  std::vector<const manifest::TensorPlace*> list;
  for (const manifest::TensorPlace& t : m.tensors)
    if (t.role == manifest::Role::input || (t.role == manifest::Role::output && t.memory < 0)) list.push_back(&t);
  std::ranges::sort(list, {}, [](const manifest::TensorPlace* t) { return std::pair(t->role, t->position); });
  return list;
}

/// Returns the output that overwrites the input `t`, or nullptr if there is none.
const manifest::TensorPlace* becomes(const manifest::Manifest& m, const manifest::TensorPlace& t) {
  const auto at = std::ranges::find_if(
      m.tensors, [&](const manifest::TensorPlace& o) { return o.memory >= 0 && &m.tensors[o.memory] == &t; });
  return at == m.tensors.end() ? nullptr : &*at;
}

/// Returns the initialisers of the generated array `inputs` or `outputs`, in order: for each input or output,
/// the name of its parameter of the C function, or 0 if it is an output that overwrites an input. A 0 ends the array.
std::string addresses(const manifest::Manifest& m, manifest::Role role) {
  Names names;
  int end = 0;
  for (const manifest::TensorPlace& t : m.tensors)
    if (t.role == role) end = std::max(end, t.position + 1);
  std::vector<std::string> list(static_cast<std::size_t>(end) + 1, "0");
  for (const manifest::TensorPlace* t : callers_tensors(m)) {
    const std::string name = names.pointer(t->name);
    if (t->role == role) list[t->position] = "(void*)" + name;
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

/// Returns "const char* run_NAME(...)" without a semicolon or body.
std::string c_signature(const manifest::Manifest& m) {
  Names names;
  std::string list;
  for (const manifest::TensorPlace* t : callers_tensors(m)) {
    const bool read = t->role == manifest::Role::input && !becomes(m, *t);
    list += fmt::format("{}void* {}, ", read ? "const " : "", names.pointer(t->name));
  }
  return fmt::format("const char* {}({}{}void* workspace, struct CUstream_st* stream)", Names::function(m.name),
                     size_parameters(m), list);
}

}  // namespace

std::string c_header(const manifest::Manifest& m) {
  Text out;
  Names names;
  out.raw(fmt::format(R"(// {0}: {1} kernel{2} for {3}, made by Zellige.
#ifndef ZELLIGE_{0}_H
#define ZELLIGE_{0}_H
{4}struct CUstream_st;  // what cudaStream_t and CUstream point to
#ifdef __cplusplus
extern "C" {{
#endif

// Launches on `stream`, from any thread, in the calling thread's current context, where all memory lies. It
// allocates nothing and waits for nothing, and may be captured in a CUDA graph. Returns NULL, or what is wrong in one
// sentence, which is the calling thread's until its next call.
//
)",
                      m.name, m.kernels.size(), m.kernels.size() == 1 ? "" : "s", m.target,
                      m.sizes.empty() ? "" : "#include <stdint.h>\n"));
  for (const tile::Size& s : m.sizes) out.line("// {}", size_comment(s));
  if (!m.variants.empty())
    out.line("// It has {} variants of its kernels, of which a launch runs one by its sizes.", m.variants.size() + 1);
  for (const manifest::TensorPlace* t : callers_tensors(m)) {
    const manifest::TensorPlace* made = t->role == manifest::Role::input ? becomes(m, *t) : nullptr;
    const int index = static_cast<int>(t - m.tensors.data());
    out.line("// {}: {} {}, {} {}, strides {} in elements, {} bytes{}{}", names.pointer(t->name), name(t->role),
             printable(t->name), graph::name(t->dtype), shape_text(m, index), graph::to_string(t->strides),
             number_text(m, {manifest::SizedField::bytes, index}, t->bytes),
             t->constant ? "; no earlier work on the stream writes it" : "",
             made ? fmt::format("; it becomes output {}", printable(made->name)) : "");
  }
  out.line("// workspace: {}", largest_workspace(m) ? fmt::format("{} bytes, aligned to {}; whatever they hold",
                                                                  workspace_text(m), workspace_alignment)
                                                    : "not looked at");
  out.line("//");
  const bool early = std::ranges::any_of(programs_of(m), [](const manifest::Manifest* of) {
    return std::ranges::any_of(of->kernels, &manifest::KernelLaunch::programmatic);
  });
  out.line("// Tensors begin at multiples of {} bytes, and outputs overlap nothing else.{}", tensor_alignment,
           early ? " Kernels may start while the work before" : "");
  if (early)
    out.line(
        "// them on the stream ends, and wait for it before they touch anything but inputs that no earlier "
        "work writes.");
  out.line("{};", c_signature(m));
  out.raw(R"(
#ifdef __cplusplus
}
#endif
#endif
)");
  return out.str();
}

std::string c_messages(const manifest::Manifest& m) {
  return fmt::format(R"(static __thread char call_text[512];
__attribute__((format(printf, 1, 2))) static const char* call_said(const char* format, ...) {{
  va_list list;
  va_start(list, format);
  vsnprintf(call_text, sizeof call_text, format, list);
  va_end(list);
  return call_text;
}}
static const char* call_misplaced(const char* what, const void* at, unsigned alignment) {{
  const unsigned above = (unsigned)((size_t)at % alignment);
  if (!at) return call_said("{0}, %s: expected an address, found NULL", what);
  if (!above) return 0;
  return call_said("{0}, %s: expected memory that begins at a multiple of %u bytes, found %u above one",
                   what, alignment, above);
}}

)",
                     m.name);
}

std::string c_checks(const manifest::Manifest& m) {
  Text out;
  Names names;
  out.open("{} {{", c_signature(m));
  out.line("const char* wrong = 0;");
  out.raw(size_checks(m));
  for (const manifest::TensorPlace* t : callers_tensors(m))
    out.line("if (!wrong) wrong = call_misplaced(\"{} {}\", {}, {});", name(t->role), in_literal(t->name),
             names.pointer(t->name), tensor_alignment);
  if (const std::int64_t bytes = largest_workspace(m))
    out.line("if (!wrong) wrong = call_misplaced(\"workspace of {} bytes\", workspace, {});", bytes,
             workspace_alignment);
  out.line("if (wrong) return wrong;");
  out.line("void* const inputs[] = {{{}}};", addresses(m, manifest::Role::input));
  out.line("void* const outputs[] = {{{}}};", addresses(m, manifest::Role::output));
  return out.str();
}

std::string cuda_definition(const manifest::Manifest& m) {
  return fmt::format(R"(
#if !defined(ZELLIGE_EMULATE) && !defined(__CUDACC_RTC__)
#include <cstdarg>
#include <cstdio>
#include "{0}.h"

{1}{2}  const cudaError_t error = {3}({4}inputs, outputs, workspace, stream);
  return error == cudaSuccess ? nullptr : call_said("{0}: %s", cudaGetErrorString(error));
}}
#endif
)",
                     m.name, c_messages(m), c_checks(m), Names::entry(m.name), size_arguments(m));
}

}  // namespace zellige::emit
