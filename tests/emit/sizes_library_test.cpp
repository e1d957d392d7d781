// The shared object of a program with sizes, on a driver that only writes down what it is asked for: grids, scalars, places in
// the workspace and TMA descriptors are those of the manifest of the launch.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <set>

#include "../unfused.hpp"
#include "emit/host_text.hpp"
#include "folder.hpp"
#include "graph/builder.hpp"
#include "manifest/launch_sizes.hpp"
#include "manifest/variants.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "toolchain/host_compiler.hpp"

namespace zellige::emit {
namespace {

/// A driver in C: of each launch the grid, and the first three words of its first three arguments.
constexpr const char* fake_driver = R"(
#include <stddef.h>
#include <string.h>
long long written[4096];
int count;
static int context;
int cuCtxGetCurrent(void** c) { return *c = &context, 0; }
int cuCtxGetDevice(int* d) { return *d = 0, 0; }
int cuDeviceGetAttribute(int* to, int which, int d) { return *to = which == 75 ? 9 : 0, 0; }
int cuModuleLoadData(void** m, const void* image) { return *m = &context, 0; }
int cuModuleGetFunction(void** f, void* m, const char* name) { return *f = &context, 0; }
int cuFuncSetAttribute(void* f, int which, int value) { return 0; }
int cuGetErrorString(int e, const char** s) { return *s = "fake", 0; }
int cuTensorMapEncodeTiled(long long* map, int element, unsigned rank, long long at, const unsigned long long* extent) {
  for (unsigned d = 0; d < rank; ++d) map[d + 1] = (long long)extent[d];
  return map[0] = at, 0;
}
typedef struct { unsigned grid[3], block[3], shared; } Launch;
int cuLaunchKernelEx(const Launch* l, void* f, void** arguments, void** extra) {
  for (int axis = 0; axis < 3; ++axis) written[count++] = l->grid[axis];
  for (int i = 0; i < 3; ++i)
    for (int word = 0; word < 3; ++word) written[count++] = ((long long*)arguments[i])[word];
  return 0;
}
)";

/// Returns the driver, which is compiled once and stays loaded: libraries that need it find it by its name.
void* fake_cuda(const std::string& gcc) {
  static const Folder folder;
  static void* const driver = [&]() -> void* {
    system::write_whole(folder / "fake.c", fake_driver);
    const std::string library = (folder / "libcuda.so.1").string();
    const system::Finished built = system::run_process(
        {gcc, "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", library, (folder / "fake.c").string()});
    return built.status == 0 ? dlopen(library.c_str(), RTLD_NOW) : nullptr;
  }();
  return driver;
}

EmittedProgram products() {
  graph::Builder b("two");
  const graph::TensorHandle x = b.input("x", {256, 128}), v = b.input("v", {128, 64}), w = b.input("w", {64, 64});
  b.output(matmul(matmul(x, v), w), "y");
  plan::PlanOptions o{.blocks = {plan::Blocks::a_tile}};
  for (int op = 0; op < 2; ++op)
    o.tiling.push_back({.op = op, .product = retile::MatmulTile{.m = 64, .n = 64, .k = 64, .threads = 128}});
  o.sizes = {{.name = "T", .low = 1, .high = 256, .of = {{0, 0}}}};
  return test::transpile(b.build(), target::find("sm_90a"), o);
}

/// The same product for 1 to 64 rows and for 128, as variants, in tiles of 64 rows or 16.
EmittedProgram with_parts() {
  const auto planned = [&](const char* name, std::int64_t rows, std::int64_t low) {
    graph::Builder part(name);
    const graph::TensorHandle px = part.input("x", {rows, 128}), pv = part.input("v", {128, 64}),
                              pw = part.input("w", {64, 64});
    part.output(matmul(matmul(px, pv), pw), "y");
    plan::PlanOptions o{.blocks = {plan::Blocks::a_tile}};
    for (int op = 0; op < 2; ++op)
      o.tiling.push_back(
          {.op = op,
           .product = retile::MatmulTile{.m = rows > 64 ? 64 : 16, .n = rows > 64 ? 64 : 32, .k = 64, .threads = 128}});
    if (low < rows) o.sizes = {{.name = "T", .low = low, .high = rows, .of = {{0, 0}}}};
    EmittedProgram p = test::transpile(part.build(), target::find("sm_90a"), o);
    if (name != std::string("two")) p.manifest.range = {{.name = "T", .low = low, .high = rows}};
    return p;
  };
  return with_variants(planned("two", 256, 1), {planned("two_Tis128", 128, 128), planned("two_Tto64", 64, 1)});
}

TEST(SizedLibrary, LaunchesTheVariantOfTheSizes) {
  const auto gcc = system::find_program("gcc");
  if (!gcc) GTEST_SKIP() << "no gcc";
  const Folder folder;
  const toolchain::Cache cache{folder.path};
  void* const driver = fake_cuda(*gcc);
  ASSERT_TRUE(driver) << dlerror();
  const EmittedProgram p = with_parts();
  const manifest::Manifest& m = p.manifest;
  EXPECT_NE(c_header(m).find("// It has 3 variants of its kernels, of which a launch runs one by its sizes."),
            std::string::npos);
  system::write_whole(folder / "two.so", toolchain::shared_object(m, "\177ELF", cache));
  void* const library = dlopen((folder / "two.so").c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  using Run = const char* (*)(std::int64_t, const void*, const void*, const void*, void*, void*, void*);
  const Run two = reinterpret_cast<Run>(dlsym(library, "run_two"));
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  auto* const written = static_cast<long long*>(dlsym(driver, "written"));
  int& count = *static_cast<int*>(dlsym(driver, "count"));
  std::set<std::string> names;
  for (const std::int64_t n : {1, 16, 17, 64, 65, 127, 128, 129, 256}) {
    count = 0;
    ASSERT_STREQ(two(n, at(0x1000), at(0x2000), at(0x3000), at(0x4000), at(0x10000), nullptr), nullptr);
    const std::int64_t sizes[] = {n};
    const manifest::Manifest now = at_sizes(m, sizes);
    EXPECT_EQ(now.name, "two");
    names.insert(now.kernels[0].name);
    ASSERT_EQ(count, 12 * static_cast<int>(now.kernels.size()));
    for (std::size_t k = 0; k < now.kernels.size(); ++k) {
      const manifest::KernelLaunch& l = now.kernels[k];
      EXPECT_EQ(written[12 * k], l.grid.x) << n;
      EXPECT_EQ(written[12 * k + 1], l.grid.y) << n;
      for (std::size_t i = 0; i < 3; ++i) {
        const manifest::TensorPlace& t = now.tensors[static_cast<std::size_t>(l.tensors[i])];
        const std::int64_t callers = t.role == manifest::Role::output ? 0x4000 : 0x1000 * (t.position + 1);
        EXPECT_EQ(written[12 * k + 3 + 3 * i], t.role == manifest::Role::intermediate ? 0x10000 + t.offset : callers)
            << n;
      }
    }
  }
  EXPECT_EQ(names.size(), 2U);  // kernels of 128 rows are those of all rows
  EXPECT_STREQ(two(257, at(0x1000), at(0x2000), at(0x3000), at(0x4000), at(0x10000), nullptr),
               "two: expected T from 1 to 256, found 257");
  dlclose(library);
}

TEST(SizedLibrary, LaunchesWhatTheManifestOfTheLaunchSays) {
  const auto gcc = system::find_program("gcc");
  if (!gcc) GTEST_SKIP() << "no gcc";
  const Folder folder;
  const toolchain::Cache cache{folder.path};
  void* const driver = fake_cuda(*gcc);
  ASSERT_TRUE(driver) << dlerror();

  const EmittedProgram p = products();
  const manifest::Manifest& m = p.manifest;
  ASSERT_EQ(m.kernels.size(), 2u);
  ASSERT_GE(m.kernels[0].maps.size(), 2u) << "by TMA";
  system::write_whole(folder / "two.so", toolchain::shared_object(m, "\177ELF", cache));
  void* const library = dlopen((folder / "two.so").c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  using Run = const char* (*)(std::int64_t, const void*, const void*, const void*, void*, void*, void*);
  const Run two = reinterpret_cast<Run>(dlsym(library, "run_two"));
  ASSERT_TRUE(two);
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  const auto launch = [&](std::int64_t n) {
    return two(n, at(0x1000), at(0x2000), at(0x3000), at(0x4000), at(0x10000), nullptr);
  };
  auto* const written = static_cast<long long*>(dlsym(driver, "written"));
  int& count = *static_cast<int*>(dlsym(driver, "count"));
  for (const std::int64_t n : {1, 63, 64, 65, 256}) {
    count = 0;
    ASSERT_STREQ(launch(n), nullptr);
    ASSERT_EQ(count, 2 * 12);
    const std::int64_t sizes[] = {n};
    const manifest::Manifest now = at_sizes(m, sizes);
    for (int k = 0; k < 2; ++k) {
      const manifest::KernelLaunch& l = now.kernels[static_cast<std::size_t>(k)];
      const long long* const found = written + 12 * k;
      EXPECT_EQ(found[0], l.grid.x);
      EXPECT_EQ(found[1], l.grid.y);
      EXPECT_EQ(found[2], l.grid.z);
      for (int i = 0; i < 3; ++i) {
        const long long* const argument = found + 3 + 3 * i;
        if (const auto map = l.maps.find(i); map != l.maps.end()) {
          EXPECT_EQ(argument[1], map->second.extent[0]);
          EXPECT_EQ(argument[2], map->second.extent[1]);
        }
        const manifest::TensorPlace& t = now.tensors[static_cast<std::size_t>(l.tensors[static_cast<std::size_t>(i)])];
        const std::int64_t callers = t.role == manifest::Role::output ? 0x4000 : 0x1000 * (t.position + 1);
        EXPECT_EQ(argument[0], t.role == manifest::Role::intermediate ? 0x10000 + t.offset : callers);
      }
    }
  }
  EXPECT_STREQ(launch(0), "two: expected T from 1 to 256, found 0");
  EXPECT_STREQ(launch(257), "two: expected T from 1 to 256, found 257");
  dlclose(library);
}

}  // namespace
}  // namespace zellige::emit
