#include "emit/host_text.hpp"
#include "emit/names.hpp"
#include "emit/size_text.hpp"
#include "emit/source_lines.hpp"
#include "manifest/variants.hpp"
#include "target/pipe.hpp"

namespace zellige::emit {
namespace {

// The part that every program's library has in common, after the tables that describe the program.
// driver_table.hpp and launcher.hpp do the same for programs that are compiled where they run.
constexpr const char* launching = R"(
typedef struct { int id, padding; unsigned value[16]; } Attribute;
typedef struct {
  unsigned grid[3], block[3], shared;
  void* stream;
  Attribute* attributes;
  unsigned attribute_count;
} Launch;

static int (*context_get)(void**);
static int (*context_device)(int*);
static int (*device_attribute)(int*, int, int);
static int (*module_load)(void**, const void*);
static int (*module_function)(void**, void*, const char*);
static int (*function_set)(void*, int, int);
static int (*launch_kernel)(const Launch*, void*, void**, void**);
static int (*encode_tiled)(void*, int, unsigned, void*, const unsigned long long*, const unsigned long long*,
                           const unsigned*, const unsigned*, int, int, int, int);
static int (*error_string)(int, const char**);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char* found(void* driver, const char* symbol, void* function) {
  void* const at = dlsym(driver, symbol);
  memcpy(function, &at, sizeof at);
  return at ? 0 : call_said("%s: libcuda.so.1 has no %s; a driver of CUDA 12 or later has", name, symbol);
}
static const char* find_driver(void) {
  if (launch_kernel) return 0;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return call_said("%s: no driver of CUDA: %s", name, dlerror());
  const char* wrong = found(driver, "cuCtxGetCurrent", &context_get);
  if (!wrong) wrong = found(driver, "cuCtxGetDevice", &context_device);
  if (!wrong) wrong = found(driver, "cuDeviceGetAttribute", &device_attribute);
  if (!wrong) wrong = found(driver, "cuModuleLoadData", &module_load);
  if (!wrong) wrong = found(driver, "cuModuleGetFunction", &module_function);
  if (!wrong) wrong = found(driver, "cuFuncSetAttribute", &function_set);
  if (!wrong) wrong = found(driver, "cuTensorMapEncodeTiled", &encode_tiled);
  if (!wrong) wrong = found(driver, "cuGetErrorString", &error_string);
  return wrong ? wrong : found(driver, "cuLaunchKernelEx", &launch_kernel);
}
static const char* failed(int status, const char* doing) {
  const char* words = "an unknown error";
  if (!status) return 0;
  error_string(status, &words);
  return call_said("%s: %s fails: %s", name, doing, words);
}

// Loaded once a context.
typedef struct Loaded {
  void* context;
  void* functions[sizeof kernels / sizeof *kernels];
  struct Loaded* next;
} Loaded;
static Loaded* all;

static const char* load(Loaded* l) {
  int device = 0, major = 0, minor = 0;
  void* module = 0;
  const char* wrong = failed(context_device(&device), "asking for the context's GPU");
  if (wrong) return wrong;
  device_attribute(&major, 75, device);
  device_attribute(&minor, 76, device);
  if (exact ? major != sm / 10 || minor != sm % 10 : major != sm / 10 || minor < sm % 10)
    return call_said("%s: expected a GPU of compute capability %d.%d%s, found one of %d.%d", name, sm / 10, sm % 10,
                     exact ? "" : " or a later minor version", major, minor);
  wrong = failed(module_load(&module, cubin), "loading the kernels");
  for (unsigned k = 0; !wrong && k < sizeof kernels / sizeof *kernels; ++k) {
    wrong = failed(module_function(&l->functions[k], module, kernels[k].name), "finding a kernel");
    if (!wrong && kernels[k].shared > 48 * 1024)
      wrong = failed(function_set(l->functions[k], 8, (int)kernels[k].shared), "asking for shared memory");
  }
  return wrong;
}
static const char* find_loaded(const Loaded** loaded) {
  void* context = 0;
  const char* wrong = find_driver();
  if (!wrong) wrong = failed(context_get(&context), "asking for the current context");
  if (wrong) return wrong;
  if (!context) return call_said("%s: expected a current context on this thread, found none; cudaSetDevice makes one", name);
  for (Loaded* l = all; l; l = l->next)
    if (l->context == context) return *loaded = l, (const char*)0;
  Loaded* const made = calloc(1, sizeof *made);
  if (!made) return call_said("%s: no memory for %zu bytes", name, sizeof *made);
  wrong = load(made);
  if (wrong) return free(made), wrong;
  made->context = context, made->next = all, all = made;
  return *loaded = made, (const char*)0;
}

// A tensor of -1 or less is scalar 0 or later.
static const char* launch(const Loaded* l, unsigned k, const Kernel* kernel, char* const* at, const long long* scalars,
                          void* stream) {
  if (!kernel->grid[0] || !kernel->grid[1] || !kernel->grid[2]) return 0;  // of tensors without elements
  _Alignas(64) char maps[8][128];
  void *addresses[64], *arguments[64];
  unsigned encoded = 0;
  for (int i = 0; i < kernel->count; ++i) {
    const int tensor = kernel->tensors[i];
    if (tensor < 0) arguments[i] = (void*)&scalars[-1 - tensor];
    if (tensor < 0) continue;
    addresses[i] = at[tensor];
    arguments[i] = &addresses[i];
  }
  static const unsigned ones[5] = {1, 1, 1, 1, 1};
  for (const Map* m = kernel->maps; m && m->rank; ++m, ++encoded) {
    void* const map = maps[encoded];
    const int status = encode_tiled(map, m->element, (unsigned)m->rank, addresses[m->argument], m->extent, m->stride,
                                    m->box, ones, 0, m->swizzle, 2, 0);
    if (status) return failed(status, "encoding a tensor map");
    arguments[m->argument] = map;
  }
  Attribute attributes[2] = {{0}};
  Launch shape = {{kernel->grid[0], kernel->grid[1], kernel->grid[2]}, {kernel->block[0], kernel->block[1], kernel->block[2]},
                  kernel->shared, stream, attributes, 0};
  if (kernel->cluster > 1) {
    Attribute* const cluster = &attributes[shape.attribute_count++];
    cluster->id = 4, cluster->value[0] = kernel->cluster, cluster->value[1] = cluster->value[2] = 1;
  }
  if (kernel->programmatic) {
    Attribute* const early = &attributes[shape.attribute_count++];
    early->id = 6, early->value[0] = 1;
  }
  return failed(launch_kernel(&shape, l->functions[k], arguments, 0), "launching");
}

)";

/// Returns the numbers list[from], list[from + 1], ... as a string, separated by commas.
std::string numbers(const auto& list, std::size_t from = 0) {
  return fmt::format("{}", fmt::join(list.begin() + from, list.end(), ", "));
}

/// Returns the number of the CUtensorMapDataType enumerator for an element type.
int element(graph::DType d) {
  return graph::bits(d) <= 8       ? 0
         : d == graph::DType::f64  ? 8
         : d == graph::DType::f16  ? 6
         : d == graph::DType::bf16 ? 9
                                   : 7;
}

/// Returns the numbers of a list, from entry `begin` on, whose entry i is the field with `at` i: the largest, or what sizes make
/// them.
std::string numbers(const manifest::Manifest& m, manifest::SizedField field, const std::vector<std::int64_t>& largest,
                    bool sized, std::size_t begin = 0) {
  if (!sized) return numbers(largest, begin);
  std::vector<std::string> all;
  for (std::size_t i = begin; i < largest.size(); ++i)
    field.at = static_cast<int>(i), all.push_back(number_text(m, field, largest[i]));
  return numbers(all);
}

/// Emits the array `declared` of the TMA descriptors of kernel `k`.
void maps(const manifest::Manifest& m, int k, const std::string& declared, bool sized, Text& out) {
  out.open("{}[] = {{", declared);
  for (const auto& [argument, map] : m.kernels[static_cast<std::size_t>(k)].maps) {
    manifest::SizedField field{manifest::SizedField::map_extent, k, argument};
    const std::string extents = numbers(m, field, map.extent, sized);
    field.kind = manifest::SizedField::map_stride;
    out.line("{{{}, {}, {}, {{{}}}, {{{}}}, {{{}}}, {}}},", argument, element(map.dtype), map.extent.size(), extents,
             map.stride.size() > 1 ? numbers(m, field, map.stride, sized, 1) : "0", numbers(map.box),
             static_cast<int>(target::swizzle_of(map.swizzle_bytes)));
  }
  out.line("{{0, 0, 0, {{0}}, {{0}}, {{0}}, 0}}");
  out.close("};");
}

/// Emits, for the kernels of a program, what sizes make of them: the scalars of all, and each kernel's grid and descriptors. The first
/// kernel is number `first` of the library.
void sized_kernels(const manifest::Manifest& m, std::size_t first, Text& out) {
  out.line("  const long long scalars[] = {{{}0}};", [&] {
    std::string list;
    for (int k = 0; k < static_cast<int>(m.kernels.size()); ++k)
      for (const auto& [argument, bytes] : m.kernels[static_cast<std::size_t>(k)].constants)
        list += number_text(m, {manifest::SizedField::scalar, k, argument}, 0) + ", ";
    return list;
  }());
  for (int k = 0; k < static_cast<int>(m.kernels.size()); ++k) {
    const manifest::KernelLaunch& l = m.kernels[static_cast<std::size_t>(k)];
    out.line("  Kernel kernel_{0} = kernels[{1}];", k, first + static_cast<std::size_t>(k));
    if (m.sizes.empty()) continue;
    const std::int64_t grid[] = {l.grid.x, l.grid.y, l.grid.z};
    for (int axis = 0; axis < 3; ++axis)
      if (const manifest::SizedField field{manifest::SizedField::grid, k, 0, axis}; m.sized.contains(field))
        out.line("  kernel_{}.grid[{}] = (unsigned)({});", k, axis, number_text(m, field, grid[axis]));
    if (l.maps.empty()) continue;
    maps(m, k, fmt::format("  const Map sized_maps_{}", k), true, out);
    out.line("  kernel_{0}.maps = sized_maps_{0};", k);
  }
  std::string list;
  for (std::size_t k = 0; k < m.kernels.size(); ++k) list += fmt::format("{}&kernel_{}", k ? ", " : "", k);
  out.line("  const Kernel* const now[] = {{{}}};", list);
}

/// Emits the types of the tables, and the program's name and GPU.
void types(const manifest::Manifest& m, Text& out) {
  const std::string sm = m.target.substr(3);
  out.line("static const char name[] = \"{}\";", m.name);
  out.line("static const int sm = {}, exact = {};", std::stoi(sm), sm.back() == 'a' ? 1 : 0);
  out.line(
      "typedef struct {{ int argument, element, rank; unsigned long long extent[5], stride[4]; unsigned "
      "box[5]; int swizzle; }} Map;");
  out.line("typedef struct {{");
  out.line("  const char* name;");
  out.line("  unsigned grid[3], block[3], shared, cluster;");
  out.line("  int programmatic, count;");
  out.line("  const int* tensors;");
  out.line("  const Map* maps;");
  out.line("}} Kernel;");
}

/// Emits C arrays that describe the kernels of a program and its variants: their grids, arguments and TMA descriptors.
void tables(const manifest::Manifest& whole, Text& out) {
  Text kernels;
  std::size_t number = 0;
  for (const manifest::Manifest* m : programs_of(whole)) {
    int scalar = 0;
    for (std::size_t k = 0; k < m->kernels.size(); ++k, ++number) {
      const manifest::KernelLaunch& l = m->kernels[k];
      std::vector<int> tensors = l.tensors;
      for (int& tensor : tensors) tensor = tensor < 0 ? --scalar : tensor;
      out.line("static const int tensors_{}[] = {{{}}};", number, numbers(tensors));
      if (!l.maps.empty()) maps(*m, static_cast<int>(k), fmt::format("static const Map maps_{}", number), false, out);
      kernels.line("  {{\"{}\", {{{}, {}, {}}}, {{{}, {}, {}}}, {}, {}, {}, {}, tensors_{}, {}}},", l.name, l.grid.x,
                   l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z, l.shared_bytes, l.cluster,
                   l.programmatic ? 1 : 0, l.tensors.size(), number,
                   l.maps.empty() ? "0" : fmt::format("maps_{}", number));
    }
  }
  out.line("static const Kernel kernels[] = {{");
  out.raw(kernels.str());
  out.line("}};");
}

/// Emits the launches of a program by its sizes, of which the first kernel is number `first` of the library.
void launches(const manifest::Manifest& m, std::size_t first, Text& out) {
  out.line("  char* at[{}];", m.tensors.size());
  for (std::size_t i = 0; i < m.tensors.size(); ++i) {
    const manifest::TensorPlace& t = m.tensors[i];
    if (t.role == manifest::Role::intermediate)
      out.line("  at[{}] = (char*)workspace + {};", i,
               number_text(m, {manifest::SizedField::offset, static_cast<int>(i)}, t.offset));
    else
      out.line("  at[{}] = {}[{}];", i, t.role == manifest::Role::input ? "inputs" : "outputs", t.position);
  }
  for (std::size_t i = 0; i < m.tensors.size(); ++i)
    if (m.tensors[i].memory >= 0) out.line("  at[{}] = at[{}];", i, m.tensors[i].memory);
  sized_kernels(m, first, out);
  out.line("  const char* wrong = 0;");
  out.line("  (void)inputs, (void)outputs, (void)workspace;");
  out.line("  for (unsigned k = 0; !wrong && k < {}; ++k) wrong = launch(loaded, {} + k, now[k], at, scalars, stream);",
           m.kernels.size(), first);
  out.line("  return wrong;");
}

/// Emits a function that launches a program by its sizes, for each of the program and its variants. Returns the calls in the
/// order in which launches try them, each after its condition.
std::string launch_functions(const manifest::Manifest& whole, Text& out) {
  std::string calls, last;
  std::size_t first = 0;
  for (const manifest::Manifest* m : programs_of(whole)) {
    const std::string function = Names::start(m->name);
    out.line(
        "static const char* {}(const Loaded* loaded, {}void* const* inputs, void* const* outputs, void* workspace, "
        "void* stream) {{",
        function, size_parameters(*m));
    launches(*m, first, out);
    out.line("}}");
    first += m->kernels.size();
    const std::string call =
        fmt::format("return {}(loaded, {}inputs, outputs, workspace, stream);\n", function, size_arguments(*m));
    if (m == &whole)
      last = "  " + call;
    else
      calls += fmt::format("  if ({}) {}", variant_condition(whole, *m), call);
  }
  return calls + last;
}

}  // namespace

std::string c_library(const manifest::Manifest& m, const std::string& cubin) {
  for (const manifest::Manifest* of : programs_of(m))
    for (const manifest::KernelLaunch& k : of->kernels)
      if (k.tensors.size() > 64 || k.maps.size() > 8)
        fail(
            "shared object of {}: expected at most 64 tensors and 8 tensor maps of a kernel, found {} and {} "
            "of {}",
            m.name, k.tensors.size(), k.maps.size(), k.name);
  Text out;
  for (const char* header : {"dlfcn", "pthread", "stdarg", "stddef", "stdio", "stdlib", "string"})
    out.line("#include <{}.h>", header);
  out.raw(c_header(m));
  if (!m.sizes.empty()) out.raw(sizes_prologue(m));
  types(m, out), tables(m, out);
  out.line("__asm__(\".section .rodata\\n.balign 64\\nzellige_cubin:\\n.incbin \\\"{}\\\"\\n.previous\\n\");",
           in_literal(in_assembler(cubin)));
  out.line("extern const char cubin[] __asm__(\"zellige_cubin\") __attribute__((visibility(\"hidden\")));");
  out.raw(c_messages(m));
  out.raw(launching);
  const std::string calls = launch_functions(m, out);
  out.raw("__attribute__((visibility(\"default\"))) " + c_checks(m));
  out.raw(R"(  const Loaded* loaded = 0;
  pthread_mutex_lock(&lock);
  wrong = find_loaded(&loaded);
  pthread_mutex_unlock(&lock);
  if (wrong) return wrong;
)");
  out.raw(calls + "}\n");
  return out.str();
}

}  // namespace zellige::emit
