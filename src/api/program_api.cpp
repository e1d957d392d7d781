// Implements zellige_program_* of the C API: creates, describes, calls and launches programs.
#include <fmt/ranges.h>

#include "api/call_options.hpp"
#include "api/caller_memory.hpp"
#include "api/guard.hpp"
#include "api/handles.hpp"
#include "api/program.hpp"
#include "graph/error.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "manifest/manifest.hpp"
#include "manifest/variants.hpp"
#include "strings/shown.hpp"
#include "target/target.hpp"
#include "toolchain/headers.hpp"
#include "toolchain/machine_code.hpp"
#include "toolchain/nvrtc.hpp"

using namespace zellige;
using namespace zellige::api;

namespace {

std::shared_ptr<CallableProgram> program_of(const zellige_program* handle) {
  return object_of<CallableProgram>(handle, "program");
}
zellige_program* handle_of(std::shared_ptr<CallableProgram> program) {
  return add_handle<zellige_program>(std::move(program));
}

/// Returns the string that `which` selects, such as the CUDA source code. Throws Error if a program that was
/// loaded from a manifest lacks this string.
std::string text_of(const CallableProgram& program, zellige_text which) {
  const emit::EmittedProgram& p = program.emitted();
  if (p.source.empty() && which != ZELLIGE_MANIFEST && which != ZELLIGE_TARGET && which != ZELLIGE_NOTES &&
      which != ZELLIGE_REJECTED)
    fail("program {}: was loaded by its manifest, which has neither source nor plan", p.manifest.name);
  switch (which) {
    case ZELLIGE_SOURCE:
      return p.source;
    case ZELLIGE_STANDALONE:
      return toolchain::standalone(p.source);
    case ZELLIGE_MANIFEST:
      return program.manifest();
    case ZELLIGE_PLAN:
      return ir::print(program.planned()) + ir::consequences(program.planned().plan);
    case ZELLIGE_PRICE:
      return predict::print(program.planned().cost);
    case ZELLIGE_GRAPH:
      return json::to_json(program.planned().graph);
    case ZELLIGE_TARGET:
      return p.manifest.target;
    case ZELLIGE_NOTES:
      return program.notes();
    case ZELLIGE_REJECTED:
      return fmt::format("{}", fmt::join(p.plan.rejected, "\n"));
    case ZELLIGE_PAGE:
      return program.page();
  }
  fail("zellige_program_text: expected 0 to 9, found {}", static_cast<int>(which));
}

/// Returns a description of one input or output of a program for the caller. Throws Error if the index is out of range.
zellige_tensor_info info(const CallableProgram& p, bool input, int index) {
  const manifest::Manifest& m = p.emitted().manifest;
  const std::vector<int>& list = input ? p.signature().inputs : p.signature().outputs;
  const manifest::TensorPlace& t = p.told(element_of(list, index, "program " + m.name, input ? "input" : "output"));
  return described(t, t.bytes, t.memory < 0 ? -1 : m.tensors[t.memory].position);
}

/// Returns the caller's sizes. Throws Error unless it has that number.
std::span<const std::int64_t> sizes_at(const CallableProgram& program, const int64_t* sizes, int count) {
  const manifest::Manifest& m = program.emitted().manifest;
  if (count != std::ssize(m.sizes))
    fail("program {}: expected {} size{}, found {}", m.name, m.sizes.size(), m.sizes.size() == 1 ? "" : "s", count);
  return array_at(sizes, static_cast<std::size_t>(count), "sizes");
}

/// Returns where the caller gets the program's sizes.
std::span<int64_t> places_for(const CallableProgram& program, int64_t* sizes, int count) {
  sizes_at(program, sizes, count);
  for (int i = 0; i < count; ++i) place_for(sizes + i, "sizes");
  return {sizes, static_cast<std::size_t>(count)};
}

/// Launches a program on the caller's addresses.
void launch(CallableProgram& program, std::span<const std::int64_t> sizes, void* const* inputs, void* const* outputs,
            void* workspace, void* stream) {
  ReadablePages known;
  const Signature& s = program.signature();
  program.launch(sizes, array_at(known, inputs, s.inputs.size(), "inputs").data(),
                 array_at(known, outputs, s.outputs.size(), "outputs").data(), workspace, stream);
}

/// Returns the caller's cubin of `count` bytes. Throws Error if it is not an ELF file. `name` names the cubin
/// in the message.
std::string cubin_text(const std::string& name, const void* cubin, std::size_t count) {
  const std::span<const char> bytes = array_at(static_cast<const char*>(cubin), count, "cubin");
  std::string text(bytes.begin(), bytes.end());
  if (!text.starts_with("\177ELF"))
    fail("{}: expected a cubin, which begins as ELF does, found {} other bytes", name, count);
  return text;
}

/// DLPack's DLPackExchangeAPI: a framework's functions to read its tensors. Declared as far as it is used.
struct DlpackExchange {
  std::uint32_t major, minor;
  const void* earlier;
  void *allocate, *own, *give;
  int (*view)(void* object, zellige_tensor*);
  int (*current_stream)(int device_type, std::int32_t device, void** stream);
};

/// Returns the caller's framework objects, such as torch tensors, as descriptions for the C API. `x` is the
/// framework's table of DLPack functions, which read an object. Throws Error if an object cannot be read as a
/// tensor. `parameter` names the list of objects in the message.
std::vector<zellige_tensor> viewed(const DlpackExchange& x, std::span<void* const> objects, const char* parameter) {
  std::vector<zellige_tensor> tensors;
  tensors.reserve(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!objects[i]) fail("{}[{}]: expected an object, found NULL", parameter, i);
    if (x.view(objects[i], &tensors.emplace_back()) != 0) fail("an argument cannot be read as a tensor");
  }
  return tensors;
}

}  // namespace

zellige_status zellige_program_new(const zellige_graph* g, const zellige_options* given, zellige_program** made) {
  return guarded([&] {
    zellige_program*& to = place_for(made, "program");
    const auto graph = object_of<const graph::KernelGraph>(g, "graph");
    to = handle_of(std::make_shared<CallableProgram>(*graph, call_options(given, graph->inputs.size())));
  });
}
zellige_status zellige_program_load(const char* manifest, const char* name, const void* cubin, size_t bytes,
                                    zellige_program** made) {
  return guarded([&] {
    zellige_program*& to = place_for(made, "program");
    const std::string text = text_at(manifest, "manifest"), source = strings::shown(text_at(name, "name")),
                      code = cubin_text(source, cubin, bytes);
    manifest::Manifest m = manifest::parse_manifest(text, source);
    toolchain::require_belongs(m, code);
    toolchain::require_even_descriptors(code, m.name);
    const toolchain::Cubin compiled{.bytes = code, .architecture = m.target};
    to = handle_of(std::make_shared<CallableProgram>(std::move(m), compiled));
  });
}
zellige_status zellige_manifest_seal(const char* manifest, const char* name, const void* cubin, size_t bytes,
                                     char** sealed) {
  return give_text(sealed, "sealed", [&] {
    const std::string text = text_at(manifest, "manifest"), source = strings::shown(text_at(name, "name")),
                      code = cubin_text(source, cubin, bytes);
    const manifest::Manifest m = manifest::unsealed_manifest(text, source);
    toolchain::require_interfaces(m, code);
    return manifest::sealed(text, source, manifest::artefact(toolchain::cubin_name(m), code));
  });
}
zellige_status zellige_cubin(const char* source, const char* target, char** cubin, size_t* bytes) {
  return guarded([&] {
    char*& to = place_for(cubin, "cubin");
    std::size_t& size = place_for(bytes, "bytes");
    const toolchain::Cubin made = toolchain::compile_cubin(
        text_at(source, "source"), target::find(text_at(target, "target")).name, toolchain::Cache::standard());
    to = text_copy(made.bytes), size = made.bytes.size();
  });
}
void zellige_program_free(zellige_program* p) {
  guarded([&] { remove_handle(p, "program"); });
}
zellige_status zellige_program_text(const zellige_program* p, zellige_text which, char** text) {
  return give_text(text, "text", [&] { return text_of(*program_of(p), which); });
}
double zellige_program_price(const zellige_program* p) {
  return guarded_or(std::nan(""), [&] { return program_of(p)->emitted().cost.us; });
}
int64_t zellige_program_workspace(const zellige_program* p) {
  return guarded_or(int64_t(-1), [&] { return manifest::largest_workspace(program_of(p)->emitted().manifest); });
}
int zellige_program_inputs(const zellige_program* p) {
  return guarded_or(-1, [&] { return static_cast<int>(program_of(p)->signature().inputs.size()); });
}
int zellige_program_outputs(const zellige_program* p) {
  return guarded_or(-1, [&] { return static_cast<int>(program_of(p)->signature().outputs.size()); });
}
zellige_status zellige_program_input(const zellige_program* p, int index, zellige_tensor_info* to) {
  return guarded([&] { place_for(to, "info") = info(*program_of(p), true, index); });
}
zellige_status zellige_program_output(const zellige_program* p, int index, zellige_tensor_info* to) {
  return guarded([&] { place_for(to, "info") = info(*program_of(p), false, index); });
}
zellige_status zellige_program_call(zellige_program* p, const zellige_tensor* inputs, int input_count,
                                    const zellige_tensor* outputs, int output_count, void* stream) {
  return guarded([&] {
    const auto program = program_of(p);
    check_counts(program->emitted().manifest, program->signature(), input_count, output_count);
    ReadablePages known;
    const auto in = array_at(known, inputs, static_cast<std::size_t>(input_count), "inputs"),
               out = array_at(known, outputs, static_cast<std::size_t>(output_count), "outputs");
    program->call(in, out, stream, &known);
  });
}
zellige_status zellige_program_call_objects(zellige_program* p, const void* exchange, void* const* inputs,
                                            int input_count, void* const* outputs, int output_count, void* stream) {
  return guarded([&] {
    const auto program = program_of(p);
    check_counts(program->emitted().manifest, program->signature(), input_count, output_count);
    ReadablePages known;
    const DlpackExchange& x = array_at(known, static_cast<const DlpackExchange*>(exchange), 1, "exchange")[0];
    if (x.major != 1) fail("DLPack: expected version 1 of the exchange table, found {}", x.major);
    if (!x.view || !x.current_stream) fail("DLPack: expected functions in the exchange table, found NULL");
    const std::vector<zellige_tensor>
        in = viewed(x, array_at(known, inputs, static_cast<std::size_t>(input_count), "inputs"), "inputs"),
        out = viewed(x, array_at(known, outputs, static_cast<std::size_t>(output_count), "outputs"), "outputs");
    constexpr int cuda = 2;
    if (!stream && !in.empty() && in[0].device_type == cuda && x.current_stream(cuda, in[0].device_id, &stream) != 0)
      fail("the current stream is not known");
    program->call(in, out, stream, nullptr);
  });
}
zellige_status zellige_program_compile(zellige_program* p) {
  return guarded([&] { program_of(p)->compile(); });
}
zellige_status zellige_program_launch(zellige_program* p, void* const* inputs, void* const* outputs, void* workspace,
                                      void* stream) {
  return guarded([&] {
    const auto program = program_of(p);
    if (const manifest::Manifest& m = program->emitted().manifest; !m.sizes.empty())
      fail("program {}: {} is known at launch only, and addresses do not say it; zellige_program_launch_sizes takes it",
           m.name, m.sizes[0].name);
    launch(*program, {}, inputs, outputs, workspace, stream);
  });
}
zellige_status zellige_program_launch_sizes(zellige_program* p, const int64_t* sizes, int size_count,
                                            void* const* inputs, void* const* outputs, void* workspace, void* stream) {
  return guarded([&] {
    const auto program = program_of(p);
    launch(*program, sizes_at(*program, sizes, size_count), inputs, outputs, workspace, stream);
  });
}
int zellige_program_sizes(const zellige_program* p) {
  return guarded_or(-1, [&] { return static_cast<int>(program_of(p)->emitted().manifest.sizes.size()); });
}
zellige_status zellige_program_size(const zellige_program* p, int index, zellige_size_info* to) {
  return guarded([&] {
    const auto program = program_of(p);
    const manifest::Manifest& m = program->emitted().manifest;
    if (index < 0 || index >= std::ssize(m.sizes))
      fail("program {}: has {} sizes, counted from 0, found {}", m.name, m.sizes.size(), index);
    const tile::Size& s = m.sizes[static_cast<std::size_t>(index)];
    place_for(to, "info") = {s.name.c_str(), s.low, s.high, s.multiple};
  });
}
zellige_status zellige_program_find_sizes(const zellige_program* p, const zellige_tensor* inputs, int input_count,
                                          int64_t* sizes, int size_count) {
  return guarded([&] {
    const auto program = program_of(p);
    const manifest::Manifest& m = program->emitted().manifest;
    check_counts(m, program->signature(), input_count, static_cast<int>(program->signature().outputs.size()));
    ReadablePages known;
    const auto in = array_at(known, inputs, static_cast<std::size_t>(input_count), "inputs");
    std::ranges::copy(sizes_of_call(m, program->signature(), in, {}, &known),
                      places_for(*program, sizes, size_count).begin());
  });
}
zellige_status zellige_program_output_sizes(const zellige_program* p, int index, const int64_t* sizes, int size_count,
                                            int64_t* shape, int64_t* strides, int64_t* bytes) {
  return guarded([&] {
    const auto program = program_of(p);
    const auto launch = program->at(sizes_at(*program, sizes, size_count));
    const manifest::TensorPlace& t =
        launch->tensors[element_of(program->signature().outputs, index, "program " + launch->name, "output")];
    for (std::size_t d = 0; d < t.shape.size(); ++d)
      place_for(shape + d, "shape") = t.shape[d], place_for(strides + d, "strides") = t.strides[d];
    place_for(bytes, "bytes") = t.bytes;
  });
}
int64_t zellige_program_workspace_sizes(const zellige_program* p, const int64_t* sizes, int size_count) {
  return guarded_or(int64_t(-1), [&] {
    const auto program = program_of(p);
    return program->workspace(sizes_at(*program, sizes, size_count));
  });
}
zellige_status zellige_program_time(const zellige_program* p, double* us) {
  return guarded([&] {
    double& to = place_for(us, "us");
    to = program_of(p)->time();
  });
}
zellige_status zellige_gpu(char** target, char** why_not) {
  return guarded([&] {
    if (target) place_for(target, "target");
    if (why_not) place_for(why_not, "why_not");
    const run::GpuFound& found = gpu();
    if (target) *target = text_copy(found.target);
    if (why_not) *why_not = text_copy(found.why_not);
  });
}
