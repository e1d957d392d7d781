// Tensors that every call refuses: invalid ranks, shapes and strides, and unmapped host memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "floats.hpp"
#include "pages.hpp"
#include "refused.hpp"

namespace {

using zellige::Graph;
using zellige::Program;

class TensorMisuse : public testing::TestWithParam<zellige_on> {
 protected:
  using Change = std::function<void(zellige_tensor& x, zellige_tensor& y)>;
  std::string refused(const Change& change) {
    zellige_tensor in = x.tensor(), out = y.tensor();
    change(in, out);
    return why([&] { program.call({in}, {out}); });
  }
  Program program{Graph::from_json(scaled), {GetParam(), "sm_80"}};
  Floats x{}, y{};
  Pages pages;
};

TEST_P(TensorMisuse, RanksShapesAndStrides) {
  const auto rank = [&](int rank) { return refused([&](auto& x, auto&) { x.rank = rank; }); };
  for (const int r : {1 << 30, -1, 65, 2147483647, -2147483647 - 1})
    EXPECT_EQ(rank(r), "program scaled, input X: expected rank 2, found " + std::to_string(r));
  EXPECT_EQ(rank(0), "program scaled, input X: expected shape (4, 8), found ()");
  EXPECT_EQ(refused([](auto& x, auto&) { x.shape = nullptr; }),
            "program scaled, input X: expected the address of a shape, found NULL");
  EXPECT_EQ(refused([](auto&, auto& y) { y.shape = nullptr; }),
            "program scaled, output Y: expected the address of a shape, found NULL");
  auto* const absent = reinterpret_cast<std::int64_t*>(pages.absent() - 8);
  const std::string missing = " of 2 numbers, found memory at " + in_hex(pages.absent()) + " that cannot be read";
  EXPECT_EQ(refused([&](auto& x, auto&) { x.shape = absent; }), "program scaled, input X: expected a shape" + missing);
  EXPECT_EQ(refused([&](auto&, auto& y) { y.strides = absent; }),
            "program scaled, output Y: expected strides" + missing);
  auto* const between = reinterpret_cast<std::int64_t*>(pages.writable() + 4);
  const std::string misaligned = " at an address that is a multiple of 8, found " + in_hex(between);
  EXPECT_EQ(refused([&](auto& x, auto&) { x.shape = between; }),
            "program scaled, input X: expected a shape" + misaligned);
  EXPECT_EQ(refused([&](auto& x, auto&) { x.strides = between; }),
            "program scaled, input X: expected strides" + misaligned);
  const std::int64_t huge[] = {INT64_MAX, INT64_MAX}, negative[] = {-4, -8}, minimum[] = {INT64_MIN, INT64_MIN};
  const std::string shape = "program scaled, input X: expected shape (4, 8), found (";
  EXPECT_EQ(refused([&](auto& x, auto&) { x.shape = huge; }), shape + "9223372036854775807, 9223372036854775807)");
  EXPECT_EQ(refused([&](auto& x, auto&) { x.shape = negative; }), shape + "-4, -8)");
  EXPECT_EQ(refused([&](auto& x, auto&) { x.shape = negative, x.strides = nullptr; }), shape + "-4, -8)");
  EXPECT_EQ(refused([&](auto& x, auto&) { x.shape = huge, x.strides = nullptr; }),
            shape + "9223372036854775807, 9223372036854775807)");
  EXPECT_EQ(refused([&](auto& x, auto&) { x.strides = minimum; }),
            "program scaled, input X: expected strides (8, 1), found (-9223372036854775808, -9223372036854775808)");
  EXPECT_EQ(refused([](auto& x, auto&) { x.byte_offset = UINT64_MAX - 64; }),
            "program scaled, input X: expected 128 bytes from " + in_hex(x.values) +
                " and byte_offset 18446744073709551551 on, found that no address is so large");
  EXPECT_EQ(refused([](auto& x, auto& y) { x.device_type = y.device_type = -7; }),
            "program scaled, input X: expected it on the host or on a CUDA device, found it on a device of "
            "DLPack's type -7");
}

TEST_P(TensorMisuse, Counts) {
  zellige_graph* graph = nullptr;
  zellige_program* p = nullptr;
  zellige_options options{};
  options.size = sizeof options, options.on = GetParam(), options.target = "sm_80";
  ASSERT_EQ(zellige_graph_from_json(scaled, "g", &graph), ZELLIGE_OK);
  ASSERT_EQ(zellige_program_new(graph, &options, &p), ZELLIGE_OK);
  zellige_tensor in = x.tensor(), out = y.tensor();
  void* objects[] = {&in};
  for (const int n : {-1, 0, 2, 1 << 30, -2147483647 - 1}) {
    const std::string input = "program scaled: expected 1 input, found " + std::to_string(n),
                      output = "program scaled: expected 1 output, found " + std::to_string(n);
    EXPECT_EQ(zellige_program_call(p, &in, n, &out, 1, nullptr), ZELLIGE_REFUSED);
    EXPECT_EQ(zellige_last_error(), input);
    EXPECT_EQ(zellige_program_call(p, &in, 1, &out, n, nullptr), ZELLIGE_REFUSED);
    EXPECT_EQ(zellige_last_error(), output);
    EXPECT_EQ(zellige_program_call_objects(p, objects, objects, n, objects, 1, nullptr), ZELLIGE_REFUSED);
    EXPECT_EQ(zellige_last_error(), input);
  }
  zellige_program_free(p), zellige_graph_free(graph);
}

TEST_P(TensorMisuse, MemoryThatIsNotThere) {
  const auto found = [](const std::string& tensor, const void* from, const char* what, const void* bad) {
    return "program scaled, " + tensor + ": expected 128 bytes from " + in_hex(from) + " on that can be " + what +
           ", found memory at " + in_hex(bad) + " that cannot";
  };
  for (std::size_t within : {std::size_t(0), std::size_t(16), std::size_t(112)}) {
    char* const crosses = pages.absent() - within;
    EXPECT_EQ(refused([&](auto& x, auto&) { x.data = crosses; }), found("input X", crosses, "read", pages.absent()));
    char* const ends = pages.read_only() - within;
    EXPECT_EQ(refused([&](auto&, auto& y) { y.data = ends; }), found("output Y", ends, "written", pages.read_only()));
  }
  void* const low = reinterpret_cast<void*>(0x1000);
  EXPECT_EQ(refused([&](auto& x, auto&) { x.data = low; }), found("input X", low, "read", low));
  EXPECT_EQ(refused([&](auto&, auto& y) { y.data = low; }), found("output Y", low, "written", low));
  void* const kernel = reinterpret_cast<void*>(0xffff800000000000);
  EXPECT_EQ(refused([&](auto& x, auto&) { x.data = kernel; }), found("input X", kernel, "read", kernel));
  void* const code = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&zellige_version) / 16 * 16);
  EXPECT_EQ(refused([&](auto&, auto& y) { y.data = code; }), found("output Y", code, "written", code));
}

// The last byte that can be read and written is used, a page that can only be read is an input, and what is refused changes nothing.
TEST_P(TensorMisuse, MemoryUpToItsLastByteIsTaken) {
  auto* const last = reinterpret_cast<float*>(pages.read_only() - 128);
  for (int i = 0; i < 32; ++i) last[i] = static_cast<float>(i), x.values[i] = -5;
  char* const refused_output = pages.read_only() + 64;
  EXPECT_EQ(refused([&](auto& x, auto& y) { x.data = last, y.data = refused_output; }),
            "program scaled, output Y: expected 128 bytes from " + in_hex(refused_output) +
                " on that can be written, found memory at " + in_hex(refused_output) + " that cannot");
  for (int i = 0; i < 32; ++i) ASSERT_EQ(last[i], i);
  EXPECT_EQ(refused([&](auto& x, auto&) { x.data = last; }), "nothing was refused");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(y.values[i], 3 * i);
  EXPECT_EQ(refused([&](auto&, auto& y) { y.data = last; }), "nothing was refused");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(last[i], -15);
  EXPECT_EQ(refused([&](auto& x, auto&) { x.data = pages.read_only(); }), "nothing was refused");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(y.values[i], 0);
}

// Pages beyond the end of a file are mapped, but accessing them is a bus error.
TEST_P(TensorMisuse, AFileThatWasCutShort) {
  char name[] = "/tmp/zellige_cut_XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  ASSERT_EQ(ftruncate(file, 64), 0);
  void* const mapped = mmap(nullptr, 2 * Pages::page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  char* const beyond = static_cast<char*>(mapped) + Pages::page;
  EXPECT_NE(
      refused([&](auto& x, auto&) { x.data = beyond; }).find("that can be read, found memory at " + in_hex(beyond)),
      std::string::npos);
  EXPECT_NE(
      refused([&](auto&, auto& y) { y.data = beyond; }).find("that can be written, found memory at " + in_hex(beyond)),
      std::string::npos);
  EXPECT_EQ(refused([&](auto& x, auto&) { x.data = mapped; }), "nothing was refused");
  munmap(mapped, 2 * Pages::page), close(file);
}

INSTANTIATE_TEST_SUITE_P(On, TensorMisuse, testing::Values(ZELLIGE_ON_REFERENCE, ZELLIGE_ON_EMULATOR),
                         [](const auto& info) { return info.param == ZELLIGE_ON_EMULATOR ? "Emulator" : "Reference"; });

// The whole range of a strided tensor is checked, from its first element to its last, across all pages.
TEST(StridedMisuse, AHoleInTheMiddle) {
  Program program(Graph::from_json(R"({"zellige_graph": 1, "name": "rows",
    "inputs": [{"name": "X", "dtype": "f32", "shape": [3, 4], "strides": [1024, 1]}],
    "operators": [{"op": "mul_scalar", "inputs": ["X"], "scalar": 3, "outputs": [{"name": "Y", "strides": [4, 1]}]}],
    "outputs": ["Y"]})"),
                  {ZELLIGE_ON_REFERENCE});
  auto* const rows =
      static_cast<char*>(mmap(nullptr, 3 * Pages::page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const std::int64_t shape[] = {3, 4}, strides[] = {1024, 1};
  alignas(16) float y[12];
  const zellige_tensor in{rows, 1, 0, 2, 2, 32, 1, shape, strides, 0}, out{y, 1, 0, 2, 2, 32, 1, shape, nullptr, 0};
  EXPECT_EQ(why([&] { program.call({in}, {out}); }), "nothing was refused");
  munmap(rows + Pages::page, Pages::page);
  EXPECT_EQ(why([&] { program.call({in}, {out}); }), "program rows, input X: expected 8208 bytes from " + in_hex(rows) +
                                                         " on that can be read, found memory at " +
                                                         in_hex(rows + Pages::page) + " that cannot");
  munmap(rows, 3 * Pages::page);
}

// Asked for page by page it would take minutes, and memory for its pages.
TEST(LargeMisuse, TensorsLargerThanTheMachine) {
  Program program(Graph::from_json(R"({"zellige_graph": 1, "name": "huge",
    "inputs": [{"name": "X", "dtype": "f32", "shape": [1048576, 1048576]}],
    "operators": [{"op": "mul_scalar", "inputs": ["X"], "scalar": 3, "outputs": [{"name": "Y", "strides": [1048576, 1]}]}],
    "outputs": ["Y"]})"),
                  {ZELLIGE_ON_REFERENCE});
  const std::int64_t shape[] = {1048576, 1048576};
  const auto at = [&](std::uintptr_t address) {
    return zellige_tensor{reinterpret_cast<void*>(address), 1, 0, 2, 2, 32, 1, shape, nullptr, 0};
  };
  const std::string message = why([&] { program.call({at(1ull << 44)}, {at(1ull << 45)}); });
  EXPECT_EQ(message.substr(0, message.find("the ")), "program huge: its tensors have 8.8e+03 GB, more than ")
      << message;
}

}  // namespace
