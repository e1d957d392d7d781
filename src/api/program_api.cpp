// zellige_program_*: programs made, asked, called and launched.
#include <algorithm>
#include <cstring>

#include "api/graph_api.hpp"
#include "api/guard.hpp"
#include "api/program.hpp"
#include "emit/read_manifest.hpp"
#include "emit/seal.hpp"
#include "graph/error.hpp"
#include "graph/json.hpp"
#include "graph/shown.hpp"
#include "run/belongs.hpp"
#include "run/nvrtc.hpp"
#include "run/standalone.hpp"
#include "target/target.hpp"

using namespace zellige;
using namespace zellige::api;

struct zellige_program {
  Program program;
};

namespace {

/// As far as the caller knows the structure.
zellige_options known(const zellige_options* given) {
  zellige_options o{};
  if (given) std::memcpy(&o, given, std::min(given->size, sizeof o));
  return o;
}

Options options(const zellige_options& o) {
  if (o.on < ZELLIGE_ON_AUTO || o.on > ZELLIGE_ON_REFERENCE) fail("on: expected 0 to 3, found {}", o.on);
  Options made{.on = static_cast<On>(o.on), .tune = o.tune};
  if (o.target) made.target = o.target;
  if (o.tiling) made.tiling = o.tiling;
  for (int i = 0; i < o.constant_count; ++i) made.constants.emplace_back(o.constants[i]);
  made.workers = o.workers;
  made.as_given = o.as_given != 0;
  return made;
}

std::string text_of(const Program& program, zellige_text which) {
  const emit::Program& p = program.emitted();
  if (p.source.empty() && which != ZELLIGE_MANIFEST && which != ZELLIGE_TARGET && which != ZELLIGE_NOTES)
    fail("program {}: was loaded by its manifest, which has neither text nor plan", p.manifest.name);
  switch (which) {
    case ZELLIGE_SOURCE:
      return p.source;
    case ZELLIGE_STANDALONE:
      return run::standalone(p.source);
    case ZELLIGE_MANIFEST:
      return emit::to_json(p.manifest);
    case ZELLIGE_PLAN:
      return plan::print(p.plan);
    case ZELLIGE_PRICE:
      return plan::print(p.price);
    case ZELLIGE_GRAPH:
      return graph::to_json(p.graph);
    case ZELLIGE_TARGET:
      return p.manifest.target;
    case ZELLIGE_NOTES:
      return program.notes();
  }
  fail("zellige_program_text: expected 0 to 7, found {}", static_cast<int>(which));
}

zellige_tensor_info info(const zellige_program* p, bool input, int index) {
  const Signature& s = p->program.signature();
  const std::size_t count = (input ? s.inputs : s.outputs).size();
  if (index < 0 || index >= static_cast<int>(count))
    fail("program {}: has {} {}s, counted from 0, found {}", p->program.emitted().manifest.name, count,
         input ? "input" : "output", index);
  const auto at = static_cast<std::size_t>(index);
  const emit::TensorPlace& t = input ? p->program.input(at) : p->program.output(at);
  zellige_tensor_info i{};
  i.name = t.name.c_str();
  i.dtype = graph::name(t.dtype).data();
  i.rank = static_cast<int32_t>(t.shape.size());
  i.shape = t.shape.data();
  i.strides = t.strides.data();
  i.bytes = t.bytes;
  i.alignment = alignment;
  i.memory =
      t.memory < 0 ? -1 : p->program.emitted().manifest.tensors[static_cast<std::size_t>(t.memory)].position;
  i.constant = t.constant;
  return i;
}

std::string cubin_text(const std::string& name, const void* bytes, std::size_t count) {
  std::string text(static_cast<const char*>(bytes), count);
  if (!text.starts_with("\177ELF"))
    fail("{}: expected a cubin, which begins as ELF does, found {} other bytes", name, count);
  return text;
}

/// As much of DLPack's DLPackExchangeAPI as is used.
struct Exchange {
  std::uint32_t major, minor;
  const void* earlier;
  void *allocate, *own, *give;
  int (*view)(void* object, zellige_tensor*);
  int (*current_stream)(int device_type, std::int32_t device, void** stream);
};

std::vector<zellige_tensor> viewed(const Exchange& x, void* const* objects, int count) {
  std::vector<zellige_tensor> tensors(static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (x.view(objects[i], &tensors[i]) != 0) fail("an argument cannot be read as a tensor");
  return tensors;
}

std::span<const zellige_tensor> span(const zellige_tensor* first, int count) {
  return {first, static_cast<std::size_t>(std::max(count, 0))};
}

}  // namespace

zellige_status zellige_program_new(const zellige_graph* g, const zellige_options* given,
                                   zellige_program** made) {
  return guarded([&] { *made = new zellige_program{Program(g->graph, options(known(given)))}; });
}
zellige_status zellige_program_load(const char* manifest, const char* name, const void* cubin, size_t bytes,
                                    zellige_program** made) {
  return guarded([&] {
    const std::string source = graph::shown(name), text = cubin_text(source, cubin, bytes);
    emit::Manifest m = emit::parse_manifest(manifest, source);
    run::require_belongs(m, text);
    run::require_even_descriptors(text, m.name);
    const run::Cubin compiled{.bytes = text, .architecture = m.target};
    *made = new zellige_program{Program(std::move(m), compiled)};
  });
}
zellige_status zellige_manifest_seal(const char* manifest, const char* name, const void* cubin, size_t bytes,
                                     char** sealed) {
  return guarded([&] {
    const std::string source = graph::shown(name), text = cubin_text(source, cubin, bytes);
    const emit::Manifest m = emit::unsealed_manifest(manifest, source);
    run::require_interfaces(m, text);
    *sealed = text_copy(emit::sealed(manifest, source, emit::artefact(run::cubin_name(m), text)));
  });
}
zellige_status zellige_cubin(const char* source, const char* target, char** cubin, size_t* bytes) {
  return guarded([&] {
    const run::Cubin made = run::compile_cubin(source, target::find(target).name, run::Cache::standard());
    *cubin = text_copy(made.bytes), *bytes = made.bytes.size();
  });
}
void zellige_program_free(zellige_program* p) { delete p; }
zellige_status zellige_program_text(const zellige_program* p, zellige_text which, char** text) {
  return guarded([&] { *text = text_copy(text_of(p->program, which)); });
}
double zellige_program_price(const zellige_program* p) { return p->program.emitted().price.us; }
int64_t zellige_program_workspace(const zellige_program* p) {
  return p->program.emitted().manifest.buffer_size;
}
int zellige_program_inputs(const zellige_program* p) {
  return static_cast<int>(p->program.signature().inputs.size());
}
int zellige_program_outputs(const zellige_program* p) {
  return static_cast<int>(p->program.signature().outputs.size());
}
zellige_status zellige_program_input(const zellige_program* p, int index, zellige_tensor_info* to) {
  return guarded([&] { *to = info(p, true, index); });
}
zellige_status zellige_program_output(const zellige_program* p, int index, zellige_tensor_info* to) {
  return guarded([&] { *to = info(p, false, index); });
}
zellige_status zellige_program_call(zellige_program* p, const zellige_tensor* inputs, int input_count,
                                    const zellige_tensor* outputs, int output_count, void* stream) {
  return guarded([&] { p->program.call(span(inputs, input_count), span(outputs, output_count), stream); });
}
zellige_status zellige_program_call_objects(zellige_program* p, const void* exchange, void* const* inputs,
                                            int input_count, void* const* outputs, int output_count,
                                            void* stream) {
  return guarded([&] {
    const Exchange& x = *static_cast<const Exchange*>(exchange);
    if (x.major != 1) fail("DLPack: expected version 1 of the exchange table, found {}", x.major);
    const std::vector<zellige_tensor> in = viewed(x, inputs, input_count),
                                      out = viewed(x, outputs, output_count);
    constexpr int cuda = 2;
    if (!stream && !in.empty() && in[0].device_type == cuda &&
        x.current_stream(cuda, in[0].device_id, &stream) != 0)
      fail("the current stream is not known");
    p->program.call(in, out, stream);
  });
}
zellige_status zellige_program_launch(zellige_program* p, void* const* inputs, void* const* outputs,
                                      void* workspace, void* stream) {
  return guarded([&] { p->program.launch(inputs, outputs, workspace, stream); });
}
zellige_status zellige_program_time(const zellige_program* p, double* us) {
  return guarded([&] { *us = p->program.time(); });
}
zellige_status zellige_gpu(char** target, char** why_not) {
  return guarded([&] {
    const Gpu& found = gpu();
    if (target) *target = text_copy(found.target);
    if (why_not) *why_not = text_copy(found.why_not);
  });
}
