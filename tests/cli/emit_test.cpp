// The files that transpile --emit writes in addition to the source: a header for C and C++, a definition in
// the source, a cubin, and a shared object that needs only the C library. The latter is called here, on a
// recording driver.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <regex>

#include "command.hpp"
#include "graph/error.hpp"
#include "manifest/manifest.hpp"
#include "system/files.hpp"
#include "toolchain/machine_code.hpp"
#include "toolchain/nvrtc.hpp"

namespace {

using zellige::system::Finished;
using zellige::system::read_whole;
using zellige::system::write_whole;

const std::string examples = std::string(ZELLIGE_SOURCE_DIR) + "/examples/";

struct Emit : Command {
  /// The printed output, with each file name without its folder.
  std::string emit(const std::string& example, const std::string& target, const std::string& list) {
    const Finished f = run({"transpile", examples + example + ".json", "-o", path("out"), "--target", target,
                            "--standalone", "--emit", list});
    EXPECT_EQ(f.status, 0) << f.output;
    return std::regex_replace(f.output, std::regex(path("out/")), "");
  }
  Finished shell(const std::string& line) {
    return zellige::system::run_process({"sh", "-c", "cd " + path("out") + " && " + line});
  }
  void prints(const std::string& line, const std::string& output) {
    const Finished f = shell(line);
    EXPECT_EQ(f.output, output) << line;
    EXPECT_EQ(f.status, 0) << line;
  }
};

bool nvrtc() {
  try {
    return !zellige::toolchain::nvrtc_version().empty();
  } catch (const std::exception&) {
    return false;
  }
}

TEST_F(Emit, TheHeaderSaysWhatIsTaken) {
  EXPECT_EQ(emit("mlp", "sm_80", "h"), "mlp.h\nmlp.manifest.json\n");
  const std::string text = read_whole(path("out/mlp.h"));
  const auto manifest = nlohmann::json::parse(read_whole(path("out/mlp.manifest.json")));
  const std::size_t count = manifest.at("kernels").size();
  const int bytes = manifest.at("buffer_size");
  const std::string kernels = std::to_string(count) + (count == 1 ? " kernel" : " kernels"),
                    workspace =
                        bytes ? std::to_string(bytes) + " bytes, aligned to 256; whatever they hold" : "not looked at";
  for (const std::string& line : std::vector<std::string>{
           "// mlp: " + kernels + " for sm_80, made by Zellige.",
           "// pX: input X, bf16 (19, 96), strides (104, 1) in elements, 3936 bytes",
           "// pY: output Y, bf16 (19, 40), strides (40, 1) in elements, 1520 bytes", "// workspace: " + workspace,
           "const char* run_mlp(const void* pX, const void* pW1, const void* pB1, "
           "const void* pW2, void* pY, void* "
           "workspace, struct CUstream_st* stream);"})
    EXPECT_NE(("\n" + text).find("\n" + line), text.npos) << line << "\n" << text;
  write_whole(path("out/user.c"), "#include \"mlp.h\"\n#include \"mlp.h\"\n");
  prints("g++ -x c -std=c99 -Wall -Wextra -Wpedantic -Werror -c user.c -o user.o", "");
  prints("g++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -c user.c -o user.o", "");
}

TEST_F(Emit, TheTextDefinesWhatTheHeaderDeclares) {
  const std::string docs = read_whole(ZELLIGE_SOURCE_DIR "/docs/how-to/deploy-aot.md"),
                    command =
                        "nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -Xcompiler -Wall,-Wextra -c mlp.cu";
  EXPECT_NE(docs.find("\n" + command + "\n"), docs.npos);
  auto nvcc = zellige::system::find_program("nvcc");
  if (!nvcc) nvcc = zellige::system::find_program("/usr/local/cuda/bin/nvcc");
  if (!nvcc) GTEST_SKIP() << "no nvcc on PATH or in /usr/local/cuda";
  for (const std::string target : {"sm_80", "sm_90a"}) {
    EXPECT_EQ(emit("mlp", target, "cu,h"), "mlp.cu\nmlp.h\nmlp.manifest.json\n");
    prints(*nvcc + std::regex_replace(command.substr(4), std::regex("_90a"), "_" + target.substr(3)), "");
    EXPECT_NE(shell("nm mlp.o").output.find(" T run_mlp\n"), std::string::npos);
  }
}

// The driver functions that a shared object calls; prints one line per launch.
constexpr const char* driver = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int id, padding; unsigned value[16]; } Attribute;
typedef struct { unsigned g[3], b[3], shared; void* stream; Attribute* attributes; unsigned count; } Launch;
int cuCtxGetCurrent(void** c) { return *c = getenv("NO_CONTEXT") ? 0 : (void*)8, 0; }
int cuCtxGetDevice(int* d) { return *d = 0, 0; }
int cuDeviceGetAttribute(int* v, int what, int d) { return (void)d, *v = what == 75 ? atoi(getenv("MAJOR")) : 0, 0; }
int cuModuleLoadData(void** m, const void* cubin) { return *m = (void*)cubin, memcmp(cubin, "\177ELF", 4) ? 200 : (puts("load"), 0); }
int cuModuleGetFunction(void** f, void* m, const char* name) { return *f = (void*)name, m ? 0 : 500; }
int cuFuncSetAttribute(void* f, int what, int value) { return printf("%s: attribute %d is %d\n", (char*)f, what, value), 0; }
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* at, const unsigned long long* extent, const unsigned long long* stride,
                           const unsigned* box, const unsigned* steps, int interleave, int swizzle, int promotion, int fill) {
  memcpy(map, &at, sizeof at);
  printf("map of %p: type %d, %llu x %llu, stride %llu, box %u x %u, steps %u, %d %d %d %d\n", at, type, extent[0], extent[1], stride[0],
         box[0], box[1], steps[rank - 1], interleave, swizzle, promotion, fill);
  return ((size_t)map & 63) != 0;
}
int cuGetErrorString(int status, const char** text) { return *text = status == 719 ? "unspecified launch failure" : "other", 0; }
int cuLaunchKernelEx(const Launch* l, void* f, void** arguments, void** extra) {
  if (getenv("FAIL")) return 719;
  printf("%s<<<%u %u %u, %u %u %u, %u, %p>>>", (char*)f, l->g[0], l->g[1], l->g[2], l->b[0], l->b[1], l->b[2], l->shared, l->stream);
  for (unsigned i = 0; i < l->count; ++i) printf(" attribute %d %u", l->attributes[i].id, l->attributes[i].value[0]);
  printf(" first %p%s\n", *(void**)arguments[0], extra ? "?" : "");
  return 0;
}
)";

TEST_F(Emit, TheSharedObjectLaunchesByTheDriver) {
  if (!nvrtc()) GTEST_SKIP() << "no NVRTC";
  EXPECT_EQ(emit("lora", "sm_90a", "so,cubin"), "lora_0.cubin\nlora_0.so\nlora_0.manifest.json\n");
  EXPECT_EQ(read_whole(path("out/lora_0.cubin")).substr(0, 4), "\177ELF");
  EXPECT_NE(read_whole(path("out/lora_0.so")).find(read_whole(path("out/lora_0.cubin"))), std::string::npos);
  prints("nm -D --defined-only lora_0.so | cut -d' ' -f2-", "T run_lora_0\n");
  prints("readelf -d lora_0.so | grep NEEDED | grep -v -e libc.so -e ld-linux | wc -l", "0\n");

  emit("lora", "sm_90a", "h");
  const std::string header = read_whole(path("out/lora_0.h"));
  const std::size_t parameters = static_cast<std::size_t>(std::ranges::count(header.substr(header.rfind("run_")), ','));
  std::string arguments;  // four numbers: the tensors' address, one of them moved, the workspace's, and the stream
  for (std::size_t i = 1; i < parameters; ++i) arguments += i == 1 ? "at[1], " : "at[0], ";
  write_whole(path("out/user.c"),
              "#include <stdio.h>\n#include <stdlib.h>\n#include \"lora_0.h\"\n"
              "int main(int n, char** v) {\n"
              "  void* at[4];\n"
              "  for (int i = 0; i < 4; ++i) at[i] = (void*)strtoull(v[i + 1], 0, 16);\n"
              "  for (int twice = 0; twice < 2 && n == 5; ++twice) {\n"
              "    const char* wrong = run_lora_0(" +
                  arguments +
                  "at[2], at[3]);\n"
                  "    if (wrong) return puts(wrong), 0;\n"
                  "  }\n"
                  "  return 0;\n"
                  "}\n");
  write_whole(path("out/driver.c"), driver);
  prints(
      "g++ -x c user.c -x none ./lora_0.so -o user -Wl,-rpath,. && mkdir driver && "
      "g++ -x c -shared -fPIC driver.c -o driver/libcuda.so.1",
      "");

  const std::string with = "LD_LIBRARY_PATH=driver MAJOR=9 ";
  const Finished done = shell(with + "./user 1000 2000 3000 77");
  EXPECT_TRUE(done.output.starts_with("load\n")) << done.output;
  EXPECT_EQ(done.output.find("load\n", 1), std::string::npos) << "once a context: " << done.output;
  const std::regex launch("lora_0_k0<<<128 1 1, \\d+ 1 1, \\d+, 0x77>>> attribute 6 1 first 0x2000\n");
  EXPECT_EQ(std::distance(std::sregex_iterator(done.output.begin(), done.output.end(), launch), {}), 2) << done.output;

  const std::string names = header.substr(header.find("input ") + 6), first = names.substr(0, names.find(','));
  prints(with + "./user 1000 0 3000 0", "lora_0, input " + first + ": expected an address, found NULL\n");
  prints(with + "./user 1000 2008 3000 0",
         "lora_0, input " + first + ": expected memory that begins at a multiple of 16 bytes, found 8 above one\n");
  prints("NO_CONTEXT=1 " + with + "./user 1000 2000 3000 0",
         "lora_0: expected a current context on this thread, found none; cudaSetDevice makes one\n");
  prints("LD_LIBRARY_PATH=driver MAJOR=8 ./user 1000 2000 3000 0",
         "lora_0: expected a GPU of compute capability 9.0, found one of 8.0\n");
  prints("FAIL=1 " + with + "./user 1000 2000 3000 0 | tail -1",
         "lora_0: launching fails: unspecified launch failure\n");
  const Finished without = shell("LD_LIBRARY_PATH=. ./user 1000 2000 3000 0");
  if (!zellige::system::find_program("nvidia-smi"))
    EXPECT_TRUE(without.output.starts_with("lora_0: no driver of CUDA: libcuda.so.1: ")) << without.output;
}

TEST_F(Emit, WorkspacesAndTensorMapsAreEncoded) {
  if (!nvrtc()) GTEST_SKIP() << "no NVRTC";
  emit("layers/gpt_mlp", "sm_90a", "so,h");
  write_whole(path("out/driver.c"), driver);
  const std::string header = read_whole(path("out/gpt_mlp.h"));
  const auto parameters = std::ranges::count(header.substr(header.rfind("run_")), ',');
  std::string arguments;
  for (auto i = parameters; i-- > 1;) arguments += "(void*)0x10000, ";
  write_whole(path("out/user.c"),
              "#include <stdio.h>\n#include \"gpt_mlp.h\"\n"
              "int main(int n, char** v) {\n"
              "  const char* wrong = run_gpt_mlp(" +
                  arguments +
                  "(void*)(n > 1 ? 0x10040l : 0x20000l), 0);\n"
                  "  return wrong ? puts(wrong), 0 : v == 0;\n"
                  "}\n");
  prints(
      "g++ -x c user.c -x none ./gpt_mlp.so -o user -Wl,-rpath,. && mkdir driver && "
      "g++ -x c -shared -fPIC driver.c -o driver/libcuda.so.1",
      "");
  const Finished f = shell("LD_LIBRARY_PATH=driver MAJOR=9 ./user");
  EXPECT_EQ(f.status, 0);
  const std::regex map("map of 0x[12]0000: type 9, \\d+ x \\d+, stride \\d+, box 64 x \\d+, steps 1, 0 3 2 0\n");
  EXPECT_GE(std::distance(std::sregex_iterator(f.output.begin(), f.output.end(), map), {}), 4) << f.output;
  EXPECT_NE(f.output.find("gpt_mlp_k2<<<"), std::string::npos) << f.output;
  EXPECT_NE(f.output.find(": attribute 8 is "), std::string::npos) << f.output;
  const std::string bytes = header.substr(header.find("// workspace: ") + 14);
  prints("LD_LIBRARY_PATH=driver MAJOR=9 ./user moved",
         "gpt_mlp, workspace of " + bytes.substr(0, bytes.find(',')) +
             ": expected memory that begins at a multiple of 256 bytes, found 64 above one\n");
}

TEST_F(Emit, TheManifestKnowsWhatWasWrittenWithIt) {
  if (!nvrtc()) GTEST_SKIP() << "no NVRTC";
  emit("mlp", "sm_90a", "cu,h,cubin,so");
  const std::string text = read_whole(path("out/mlp.manifest.json"));
  const zellige::manifest::Manifest m = zellige::manifest::parse_manifest(text, "mlp.manifest.json");
  EXPECT_EQ(m.zellige, "0.1.0");
  EXPECT_EQ(m.nvrtc, zellige::toolchain::nvrtc_version());
  ASSERT_EQ(m.artefacts.size(), 4u);
  for (const zellige::manifest::Artefact& a : m.artefacts)
    EXPECT_EQ(a, zellige::manifest::artefact(a.file, read_whole(path("out/" + a.file))));
  const std::string cubin = read_whole(path("out/mlp.cubin"));
  EXPECT_NO_THROW(zellige::toolchain::require_belongs(m, cubin));
  const auto refuses = [&](const std::string& bytes) {
    try {
      zellige::toolchain::require_belongs(m, bytes);
      return std::string();
    } catch (const zellige::Error& e) {
      return std::string(e.what());
    }
  };
  const auto message = [&](const std::string& bytes) {
    return "program mlp: expected mlp.cubin of " + std::to_string(cubin.size()) + " bytes with the hash " +
           zellige::manifest::hash(cubin) + ", as its manifest says, found " + std::to_string(bytes.size()) +
           " bytes with the hash " + zellige::manifest::hash(bytes) +
           ": the two were not written together, or the cubin was changed";
  };
  const std::string half = cubin.substr(0, cubin.size() / 2);
  EXPECT_EQ(refuses(half), message(half));
  emit("lora", "sm_90a", "cubin");
  const std::string other = read_whole(path("out/lora_0.cubin"));
  EXPECT_EQ(refuses(other), message(other));
}

/// On real manifests: a change of any single value or key is detected.
TEST_F(Emit, EveryEditOfAManifestIsNoticed) {
  for (const auto& [example, target, name] :
       std::vector<std::array<std::string, 3>>{{"lora", "sm_80", "lora_0"}, {"layers/gpt_mlp", "sm_90a", "gpt_mlp"}}) {
    emit(example, target, "cu");
    const auto whole = nlohmann::ordered_json::parse(read_whole(path("out/" + name + ".manifest.json")));
    const auto accepted = [](const nlohmann::ordered_json& m) {
      try {
        zellige::manifest::parse_manifest(m.dump(), "m");
        return true;
      } catch (const zellige::Error&) {
        return false;
      }
    };
    EXPECT_TRUE(accepted(whole));
    int edits = 0;
    const nlohmann::ordered_json flat = whole.flatten();
    for (const auto& [place, value] : flat.items()) {
      const nlohmann::ordered_json::json_pointer at(place);
      nlohmann::ordered_json edited = whole, less = whole;
      edited[at] = value.is_number_integer() ? nlohmann::ordered_json(value.get<std::int64_t>() + 1)
                   : value.is_number()       ? nlohmann::ordered_json(value.get<double>() * 1.5 + 1)
                   : value.is_boolean()      ? nlohmann::ordered_json(!value.get<bool>())
                   : value.is_string()       ? nlohmann::ordered_json(value.get<std::string>() + "x")
                                             : nlohmann::ordered_json(1);
      EXPECT_FALSE(accepted(edited)) << place;
      auto& around = less[at.parent_pointer()];
      if (around.is_object())
        around.erase(at.back());
      else
        around.erase(std::stoul(at.back()));
      EXPECT_FALSE(accepted(less)) << place;
      ++edits;
    }
    EXPECT_GT(edits, 50);
  }
}

TEST_F(Emit, NamesThatReadAsOtherTextAreNamesStill) {
  if (!nvrtc()) GTEST_SKIP() << "no NVRTC";
  const std::vector<std::string> names = {"X??/", "X???/", "*/", "??)", "%s%n", "{}", "//", "a'b", "??/??/", "#if"};
  nlohmann::json inputs, operators;
  for (std::size_t i = 0; i < names.size(); ++i) {
    inputs.push_back({{"name", names[i]}, {"dtype", "f32"}, {"shape", {4, 8}}});
    const std::string sum = i ? "t" + std::to_string(i) + "??/" : names[0],
                      before = i == 1 ? names[0] : "t" + std::to_string(i - 1) + "??/";
    if (i) operators.push_back({{"op", "add"}, {"inputs", {before, names[i]}}, {"outputs", {sum}}});
  }
  const nlohmann::json graph = {{"zellige_graph", 1},
                                {"name", "odd??/"},
                                {"inputs", inputs},
                                {"operators", operators},
                                {"outputs", {"t" + std::to_string(names.size() - 1) + "??/"}}};
  write_whole(path("odd.json"), graph.dump());
  for (const std::string target : {"sm_80", "sm_90a"})
    expect({"transpile", path("odd.json"), "-o", path("out"), "--target", target, "--emit", "cu,h,so"}, 0,
           path("out/odd.cu") + "\n" + path("out/odd.h") + "\n" + path("out/odd.so") + "\n" +
               path("out/odd.manifest.json") + "\n");
  write_whole(path("out/user.c"), "#include \"odd.h\"\n");
  prints("g++ -x c -std=c99 -Wall -Wextra -Wpedantic -Werror -c user.c -o user.o", "");
  prints("g++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -c user.c -o user.o", "");
  const std::string so = read_whole(path("out/odd.so"));
  for (const std::string& name : names) EXPECT_NE(so.find("input " + name + '\0'), so.npos) << name;
  const Finished emulated = run({"run", path("odd.json"), "--on", "emulator"});
  EXPECT_EQ(emulated.status, 0) << emulated.output;
}

/// The cache's path is not part of the program: nothing of it is executed when a cached file is loaded.
TEST_F(Emit, TheCachesPathIsNoPartOfTheProgram) {
  if (!nvrtc()) GTEST_SKIP() << "no NVRTC";
  const std::string evil = "q\");__attribute__((constructor))void f(void){*(int*)0=0;}__asm__(\"";
  setenv("ZELLIGE_CACHE", path("odd??/back\\slash\\\n%s \xff" + evil).c_str(), 1);
  expect({"transpile", examples + "lora.json", "-o", path("out"), "--emit", "so"}, 0,
         path("out/lora_0.so") + "\n" + path("out/lora_0.manifest.json") + "\n");
  void* const loaded = dlopen(path("out/lora_0.so").c_str(), RTLD_NOW);
  ASSERT_TRUE(loaded) << dlerror();
  EXPECT_TRUE(dlsym(loaded, "run_lora_0"));
  dlclose(loaded);
  const Finished emulated = run({"run", examples + "lora.json", "--on", "emulator"});
  EXPECT_EQ(emulated.status, 0) << emulated.output;
}

TEST_F(Emit, ANamedNvrtcThatIsNoneIsAnError) {
  const auto refused = [&](const std::string& named, const std::vector<std::string>& words) {
    setenv("ZELLIGE_NVRTC", named.c_str(), 1);
    const Finished f = run(words);
    unsetenv("ZELLIGE_NVRTC");
    EXPECT_EQ(f.status, 2) << f.output;
    return f.output;
  };
  const std::string none = path("no/libnvrtc.so"), text = path("text.so");
  write_whole(text, "no library");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"transpile", examples + "mlp.json", "-o", path("out"), "--emit", "cubin"},
                                             {"run", examples + "mlp.json"},
                                             {"run", examples + "mlp.json", "--on", "gpu"}}) {
    EXPECT_EQ(refused(none, words),
              "zellige: ZELLIGE_NVRTC names " + none + ", which cannot be loaded: " + none +
                  ": cannot open shared object file: No such file or directory; unset it, or let it name a "
                  "library that is there\n");
    EXPECT_EQ(refused(text, words), "zellige: ZELLIGE_NVRTC names " + text + ", which cannot be loaded: " + text +
                                        ": file too short; unset it, or let it name a library that is there\n");
    EXPECT_EQ(refused("libm.so.6", words), "zellige: libm.so.6: has no nvrtcVersion; a newer version is needed\n");
  }
}

TEST_F(Emit, WhatIsNotKnownIsRefused) {
  expect({"transpile", examples + "mlp.json", "--emit", "cu,ptx"}, 2,
         "zellige: --emit: expected one of cu, h, cubin, so, ir, found ptx (zellige transpile --help shows the "
         "usage)\n");
  setenv("ZELLIGE_CXX", "no-compiler", 1);
  const Finished f = run({"transpile", examples + "mlp.json", "-o", path("out"), "--emit", "so"});
  unsetenv("ZELLIGE_CXX");
  if (!nvrtc()) return;
  EXPECT_EQ(f.output,
            "zellige: shared object of mlp: no C++ compiler no-compiler on PATH; install g++ 12 or newer, or set "
            "ZELLIGE_CXX\n");
  EXPECT_EQ(f.status, 2);
  EXPECT_FALSE(std::filesystem::exists(path("out/mlp.manifest.json")));
}

}  // namespace
