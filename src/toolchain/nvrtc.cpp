#include "toolchain/nvrtc.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "graph/error.hpp"
#include "system/elapsed.hpp"
#include "system/library.hpp"
#include "toolchain/headers.hpp"
#include "toolchain/machine_code.hpp"

namespace zellige::toolchain {
namespace {

// Returns NVRTC's library: the one that the user names, else the first that is found.
system::Library nvrtc_library() {
  if (const std::optional<system::Library> own = system::Library::named("ZELLIGE_NVRTC")) return *own;
  std::vector<std::string> names;
  for (const char* suffix : {"", ".13", ".12", ".11.2"}) names.push_back(std::string("libnvrtc.so") + suffix);
  for (const char* root : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"})
    names.push_back(std::string(root) + "libnvrtc.so");
  return system::Library::open("NVRTC (CUDA's run-time compiler)", names);
}

// The functions of NVRTC that are used. Their types and result codes have not changed since CUDA 11.
using NvrtcHandle = struct NvrtcProgram*;
struct Nvrtc {
  system::Library library = nvrtc_library();
  int (*version)(int*, int*) = library["nvrtcVersion"];
  const char* (*error_string)(int) = library["nvrtcGetErrorString"];
  int (*create)(NvrtcHandle*, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = library["nvrtcCreateProgram"];
  int (*destroy)(NvrtcHandle*) = library["nvrtcDestroyProgram"];
  int (*compile)(NvrtcHandle, int options, const char* const*) = library["nvrtcCompileProgram"];
  int (*log_size)(NvrtcHandle, std::size_t*) = library["nvrtcGetProgramLogSize"];
  int (*log)(NvrtcHandle, char*) = library["nvrtcGetProgramLog"];
  int (*cubin_size)(NvrtcHandle, std::size_t*) = library["nvrtcGetCUBINSize"];
  int (*cubin)(NvrtcHandle, char*) = library["nvrtcGetCUBIN"];
  std::string version_text;
};

// Returns NVRTC's functions. Loads the library on the first call; throws Error if there is no suitable one.
const Nvrtc& nvrtc() {
  static const Nvrtc table = [] {
    Nvrtc t;
    int major = 0, minor = 0;
    t.version(&major, &minor);
    if (major < 12 || (major == 12 && minor < 3))  // older versions lack __builtin_bit_cast
      fail("{}: is NVRTC {}.{}; 12.3 or newer is needed", t.library.path(), major, minor);
    t.version_text = fmt::format("{}.{}", major, minor);
    return t;
  }();
  return table;
}

// Compiles source code with NVRTC and returns the cubin. Throws Fault with the log if NVRTC rejects the
// source code, and Error if it runs out of memory.
std::string compile_source(const std::string& source, const std::vector<std::string>& options) {
  const Nvrtc& n = nvrtc();
  std::vector<const char*> texts, paths, words;
  for (const Header* h : closure(source)) {
    texts.push_back(h->text.data());  // the headers' strings are zero-terminated
    paths.push_back(h->path.data());
  }
  for (const std::string& o : options) words.push_back(o.c_str());

  NvrtcHandle program = nullptr;
  if (const int e =
          n.create(&program, source.c_str(), "kernel.cu", static_cast<int>(texts.size()), texts.data(), paths.data()))
    fail("NVRTC: {}", n.error_string(e));
  const std::unique_ptr<NvrtcHandle, void (*)(NvrtcHandle*)> guard(&program,
                                                                   [](NvrtcHandle* p) { nvrtc().destroy(p); });
  if (const int e = n.compile(program, static_cast<int>(words.size()), words.data())) {
    std::size_t size = 0;
    n.log_size(program, &size);
    std::string log(size, '\0');
    n.log(program, log.data());
    constexpr int out_of_memory = 1;
    if (e == out_of_memory) fail("NVRTC {}: {}", n.version_text, n.error_string(e));
    fault("NVRTC {} does not compile the kernel: {}\n{}", n.version_text, n.error_string(e), log.c_str());
  }
  std::size_t size = 0;
  n.cubin_size(program, &size);
  std::string cubin(size, '\0');
  if (const int e = n.cubin(program, cubin.data())) fail("NVRTC gives no cubin: {}", n.error_string(e));
  return cubin;
}

}  // namespace

const std::string& nvrtc_version() { return nvrtc().version_text; }

void require_named_nvrtc() {
  if (const char* own = std::getenv("ZELLIGE_NVRTC"); own && *own) nvrtc();
}

void require_even_descriptors(std::string_view cubin, std::string_view program) {
  std::vector<Descriptor> odd;
  try {
    odd = odd_descriptors(cubin);
  } catch (const Error& e) {
    fail("program {}: its machine code cannot be read: {}", program, e.what());
  }
  if (odd.empty()) return;
  fault(
      "program {}: its machine code would end in an illegal instruction on the GPU, so it is not launched: {} (a known "
      "fault of the assembler ptxas, docs/reference/hardware.md); compile the program again, with this version of "
      "Zellige",
      program, to_string(odd[0]));
}

Cubin compile_cubin(const std::string& source, std::string_view architecture, const Cache& cache) {
  // --split-compile=0 optimizes a program's kernels in parallel, on all cores; the result does not depend on
  // the number of threads. All versions from 12.3 on accept the option.
  std::vector<std::string> options = {"--gpu-architecture=" + std::string(architecture), "-std=c++20", "-lineinfo",
                                      "-default-device", "--split-compile=0"};
  Key key;
  key.add("nvrtc, machine code read").add(nvrtc_version()).add(source);
  for (const std::string& o : options) key.add(o);
  for (const Header* h : closure(source)) key.add(h->path).add(h->text);

  // A cache entry consists of NVRTC's time, the note, a zero byte, and the cubin.
  Cubin result;
  result.architecture = architecture;
  std::string not_used;
  if (const auto entry = cache.read(key, "cubin", &not_used); entry && entry->size() > sizeof(double)) {
    std::memcpy(&result.compile_ms, entry->data(), sizeof(double));
    if (const std::size_t end = entry->find('\0', sizeof(double)); end != entry->npos) {
      result.note = entry->substr(sizeof(double), end - sizeof(double));
      result.bytes = entry->substr(end + 1);
      result.cached = true;
      return result;
    }
  }
  const auto start = system::SteadyClock::now();
  result.bytes = compile_source(source, options);
  if (const auto odd = odd_descriptors(result.bytes); !odd.empty()) {
    result.note =
        fmt::format("{}: a known fault of NVRTC {} (docs/reference/hardware.md); compiled again without cache hints",
                    to_string(odd[0]), nvrtc_version());
    options.emplace_back("-DZELLIGE_NO_CACHE_HINTS");
    result.bytes = compile_source(source, options);
    if (const auto still = odd_descriptors(result.bytes); !still.empty())
      fault(
          "{}, also without cache hints: a known fault of NVRTC {} (docs/reference/hardware.md), which ends in an "
          "illegal instruction on the GPU; the program is not launched",
          to_string(still[0]), nvrtc_version());
  }
  result.compile_ms = system::ms_since(start);
  std::string entry(sizeof(double), '\0');
  std::memcpy(entry.data(), &result.compile_ms, sizeof(double));
  cache.store(key, "cubin", entry + result.note + '\0' + result.bytes);
  if (!not_used.empty()) result.note = not_used + (result.note.empty() ? "" : "; " + result.note);
  return result;
}

}  // namespace zellige::toolchain
