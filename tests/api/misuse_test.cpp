// Every invalid pointer, handle, count and enumerator passed to the C ABI gives a status and a message.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <thread>

#include "floats.hpp"
#include "pages.hpp"
#include "refused.hpp"

namespace {

/// The sentence of a function that is expected to refuse.
std::string message(zellige_status status) {
  return status == ZELLIGE_OK ? "accepted"
                              : (status == ZELLIGE_REFUSED ? "" : "FAILED: ") + std::string(zellige_last_error());
}
/// The same for a function that reports by its result.
template <class Count>
std::string counted(Count found) {
  return found < 0 || std::isnan(static_cast<double>(found)) ? zellige_last_error() : "accepted";
}
/// The same for a function that reports only by the message.
template <class Free>
std::string freed(Free free) {
  char* ignored;
  zellige_layout(nullptr, &ignored);
  const std::string before = zellige_last_error();
  free();
  return before == zellige_last_error() ? "accepted" : zellige_last_error();
}

zellige_graph* graph_of(const char* text = scaled) {
  zellige_graph* made = nullptr;
  EXPECT_EQ(zellige_graph_from_json(text, "g", &made), ZELLIGE_OK) << zellige_last_error();
  return made;
}
zellige_program* program_of(zellige_graph* graph, zellige_on on = ZELLIGE_ON_REFERENCE) {
  zellige_options options{};
  options.size = sizeof options, options.on = on, options.target = "sm_80";
  zellige_program* made = nullptr;
  EXPECT_EQ(zellige_program_new(graph, &options, &made), ZELLIGE_OK) << zellige_last_error();
  return made;
}
/// A graph and a program, and all that a call takes; each test spoils one of them.
class Misuse : public testing::Test {
 protected:
  void TearDown() override {
    zellige_graph_free(graph), zellige_program_free(program);
    zellige_graph_free(made_graph), zellige_program_free(made_program);
  }
  zellige_graph *graph = graph_of(), *made_graph = nullptr;
  zellige_program *program = program_of(graph), *made_program = nullptr;
  Floats x{}, y{};
  zellige_tensor in = x.tensor(), out = y.tensor();
  zellige_tensor_info info{};
  char* text = nullptr;
  double us = 0;
  std::size_t bytes = 0;
  Pages pages;
};

TEST_F(Misuse, EveryParameterThatIsNullIsNamed) {
  const std::string no_text = ": expected a string, found NULL", no_place = ": expected an address, found NULL";
  EXPECT_EQ(message(zellige_graph_from_json(nullptr, "g", &made_graph)), "text" + no_text);
  EXPECT_EQ(message(zellige_graph_from_json(scaled, "g", nullptr)), "graph" + no_place);
  EXPECT_EQ(message(zellige_graph_from_json(scaled, nullptr, &made_graph)), "accepted");
  EXPECT_EQ(message(zellige_graph_json(graph, nullptr)), "text" + no_place);
  EXPECT_EQ(message(zellige_graph_input(graph, 0, nullptr)), "info" + no_place);
  EXPECT_EQ(message(zellige_graph_output(graph, 0, nullptr)), "info" + no_place);
  EXPECT_EQ(message(zellige_graph_find_sizes(graph, nullptr, nullptr, 1, nullptr, 0)), "shapes" + no_place);
  EXPECT_EQ(message(zellige_program_new(graph, nullptr, nullptr)), "program" + no_place);
  EXPECT_EQ(message(zellige_program_load(nullptr, "n", "\177ELF", 4, &made_program)), "manifest" + no_text);
  EXPECT_EQ(message(zellige_program_load("{}", nullptr, "\177ELF", 4, &made_program)), "name" + no_text);
  EXPECT_EQ(message(zellige_program_load("{}", "n", nullptr, 4, &made_program)), "cubin" + no_place);
  EXPECT_EQ(message(zellige_program_load("{}", "n", nullptr, 0, &made_program)),
            "n: expected a cubin, which begins as ELF does, found 0 other bytes");
  EXPECT_EQ(message(zellige_program_load("{}", "n", "\177ELF", 4, nullptr)), "program" + no_place);
  EXPECT_EQ(message(zellige_manifest_seal(nullptr, "n", "\177ELF", 4, &text)), "manifest" + no_text);
  EXPECT_EQ(message(zellige_manifest_seal("{}", nullptr, "\177ELF", 4, &text)), "name" + no_text);
  EXPECT_EQ(message(zellige_manifest_seal("{}", "n", nullptr, 4, &text)), "cubin" + no_place);
  EXPECT_EQ(message(zellige_manifest_seal("{}", "n", "\177ELF", 4, nullptr)), "sealed" + no_place);
  EXPECT_EQ(message(zellige_cubin(nullptr, "sm_80", &text, &bytes)), "source" + no_text);
  EXPECT_EQ(message(zellige_cubin("", nullptr, &text, &bytes)), "target" + no_text);
  EXPECT_EQ(message(zellige_cubin("", "sm_80", nullptr, &bytes)), "cubin" + no_place);
  EXPECT_EQ(message(zellige_cubin("", "sm_80", &text, nullptr)), "bytes" + no_place);
  EXPECT_EQ(message(zellige_program_text(program, ZELLIGE_PLAN, nullptr)), "text" + no_place);
  EXPECT_EQ(message(zellige_program_input(program, 0, nullptr)), "info" + no_place);
  EXPECT_EQ(message(zellige_program_output(program, 0, nullptr)), "info" + no_place);
  EXPECT_EQ(message(zellige_program_call(program, nullptr, 1, &out, 1, nullptr)), "inputs" + no_place);
  EXPECT_EQ(message(zellige_program_call(program, &in, 1, nullptr, 1, nullptr)), "outputs" + no_place);
  void* addresses[] = {x.values};
  EXPECT_EQ(message(zellige_program_launch(program, nullptr, addresses, nullptr, nullptr)), "inputs" + no_place);
  EXPECT_EQ(message(zellige_program_launch(program, addresses, nullptr, nullptr, nullptr)), "outputs" + no_place);
  std::int64_t numbers[4] = {};
  EXPECT_EQ(message(zellige_program_find_sizes(program, nullptr, 1, numbers, 0)), "inputs" + no_place);
  EXPECT_EQ(message(zellige_program_output_sizes(program, 0, nullptr, 0, nullptr, numbers, numbers)),
            "shape" + no_place);
  EXPECT_EQ(message(zellige_program_output_sizes(program, 0, nullptr, 0, numbers, nullptr, numbers)),
            "strides" + no_place);
  EXPECT_EQ(message(zellige_program_output_sizes(program, 0, nullptr, 0, numbers, numbers, nullptr)),
            "bytes" + no_place);
  EXPECT_EQ(message(zellige_program_launch_sizes(program, nullptr, 0, nullptr, addresses, nullptr, nullptr)),
            "inputs" + no_place);
  EXPECT_EQ(message(zellige_program_call_objects(program, nullptr, addresses, 1, addresses, 1, nullptr)),
            "exchange" + no_place);
  EXPECT_EQ(message(zellige_program_time(program, nullptr)), "us" + no_place);
  EXPECT_EQ(message(zellige_gpu(nullptr, nullptr)), "accepted");
  EXPECT_EQ(message(zellige_kept(nullptr, &text)), "key" + no_text);
  EXPECT_EQ(message(zellige_kept("k", nullptr)), "text" + no_place);
  EXPECT_EQ(message(zellige_keep(nullptr, "t")), "key" + no_text);
  EXPECT_EQ(message(zellige_keep("k", nullptr)), "text" + no_text);
  EXPECT_EQ(message(zellige_layout(nullptr, &text)), "expression" + no_text);
  EXPECT_EQ(message(zellige_layout("1:1", nullptr)), "result" + no_place);
  EXPECT_EQ(message(zellige_layout_operations(nullptr)), "list" + no_place);
  EXPECT_EQ(message(zellige_operators(nullptr)), "list" + no_place);
  EXPECT_EQ(message(zellige_dtypes(nullptr)), "list" + no_place);
  EXPECT_EQ(message(zellige_targets(nullptr)), "list" + no_place);
  EXPECT_EQ(message(zellige_layout_svg(nullptr, 16, &text)), "expression" + no_text);
  EXPECT_EQ(message(zellige_layout_svg("1:1", 16, nullptr)), "svg" + no_place);
  for (const auto& [at, name] : {std::pair{0, "before"}, {1, "after"}, {2, "whole"}}) {
    const zellige_cost cost{sizeof cost, 1, 1, 1, 0}, *costs[] = {&cost, &cost, &cost};
    costs[at] = nullptr;
    EXPECT_EQ(zellige_cost_pays(costs[0], costs[1], costs[2]), -1);
    EXPECT_EQ(zellige_last_error(), name + no_place);
  }
  EXPECT_EQ(freed([] { zellige_graph_free(nullptr), zellige_program_free(nullptr), zellige_text_free(nullptr); }),
            "accepted");
}

TEST_F(Misuse, EveryFunctionRefusesWhatIsNoHandle) {
  const auto graphs = [&](const zellige_graph* g, const std::string& why) {
    EXPECT_EQ(message(zellige_graph_json(g, &text)), why);
    EXPECT_EQ(counted(zellige_graph_inputs(g)), why);
    EXPECT_EQ(counted(zellige_graph_outputs(g)), why);
    EXPECT_EQ(message(zellige_graph_input(g, 0, &info)), why);
    EXPECT_EQ(message(zellige_graph_output(g, 0, &info)), why);
    EXPECT_EQ(message(zellige_program_new(g, nullptr, &made_program)), why);
    if (g) EXPECT_EQ(freed([&] { zellige_graph_free(const_cast<zellige_graph*>(g)); }), why);
  };
  const auto programs = [&](zellige_program* p, const std::string& why) {
    void* addresses[] = {x.values};
    EXPECT_EQ(message(zellige_program_text(p, ZELLIGE_PLAN, &text)), why);
    EXPECT_EQ(counted(zellige_program_price(p)), why);
    EXPECT_EQ(counted(zellige_program_workspace(p)), why);
    EXPECT_EQ(counted(zellige_program_inputs(p)), why);
    EXPECT_EQ(counted(zellige_program_outputs(p)), why);
    EXPECT_EQ(message(zellige_program_input(p, 0, &info)), why);
    EXPECT_EQ(message(zellige_program_output(p, 0, &info)), why);
    EXPECT_EQ(message(zellige_program_call(p, &in, 1, &out, 1, nullptr)), why);
    EXPECT_EQ(message(zellige_program_call_objects(p, addresses, addresses, 1, addresses, 1, nullptr)), why);
    EXPECT_EQ(message(zellige_program_launch(p, addresses, addresses, nullptr, nullptr)), why);
    std::int64_t sizes[1] = {};
    zellige_size_info size{};
    EXPECT_EQ(counted(zellige_program_sizes(p)), why);
    EXPECT_EQ(message(zellige_program_size(p, 0, &size)), why);
    EXPECT_EQ(message(zellige_program_find_sizes(p, &in, 1, sizes, 0)), why);
    EXPECT_EQ(message(zellige_program_output_sizes(p, 0, sizes, 0, sizes, sizes, sizes)), why);
    EXPECT_EQ(counted(zellige_program_workspace_sizes(p, sizes, 0)), why);
    EXPECT_EQ(message(zellige_program_launch_sizes(p, sizes, 0, addresses, addresses, nullptr, nullptr)), why);
    EXPECT_EQ(message(zellige_program_compile(p)), why);
    EXPECT_EQ(message(zellige_program_time(p, &us)), why);
    if (p) EXPECT_EQ(freed([&] { zellige_program_free(p); }), why);
  };
  graphs(nullptr, "graph: expected a zellige_graph, found NULL");
  programs(nullptr, "program: expected a zellige_program, found NULL");
  graphs(reinterpret_cast<zellige_graph*>(program), "graph: expected a zellige_graph, found a zellige_program");
  programs(reinterpret_cast<zellige_program*>(graph), "program: expected a zellige_program, found a zellige_graph");
  graphs(reinterpret_cast<zellige_graph*>(&x),
         "graph: expected a zellige_graph, found " + in_hex(&x) + ", which is no handle");
  programs(reinterpret_cast<zellige_program*>(8), "program: expected a zellige_program, found 0x8, which is no handle");

  zellige_graph* const old_graph = graph_of();
  zellige_program* const old_program = program_of(graph);
  zellige_graph_free(old_graph), zellige_program_free(old_program);
  const std::string graph_freed = "graph: expected a live zellige_graph, found one that was freed",
                    program_freed = "program: expected a live zellige_program, found one that was freed";
  graphs(old_graph, graph_freed), programs(old_program, program_freed);
  // Others take their places in the table; the old names stay dead.
  zellige_graph* const new_graph = graph_of();
  zellige_program* const new_program = program_of(graph);
  graphs(old_graph, graph_freed), programs(old_program, program_freed);
  EXPECT_EQ(counted(zellige_graph_inputs(new_graph)), "accepted");
  EXPECT_EQ(counted(zellige_program_inputs(new_program)), "accepted");
  zellige_graph_free(new_graph), zellige_program_free(new_program);
}

// Random bits, and the bits of live handles with a few flipped.
TEST_F(Misuse, NoPointerIsTakenForAHandleButOne) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t bits = random();
    if (i % 2) {
      bits = reinterpret_cast<std::uint64_t>(i % 4 == 1 ? static_cast<void*>(graph) : program);
      for (std::uint64_t rotated = 1 + random() % 3; rotated > 0; --rotated) bits ^= std::uint64_t(1) << random() % 64;
    }
    if (bits == reinterpret_cast<std::uint64_t>(graph) || bits == reinterpret_cast<std::uint64_t>(program)) continue;
    ASSERT_EQ(zellige_graph_inputs(reinterpret_cast<zellige_graph*>(bits)), -1) << std::hex << bits;
    ASSERT_EQ(zellige_program_inputs(reinterpret_cast<zellige_program*>(bits)), -1) << std::hex << bits;
  }
}

TEST_F(Misuse, TextsThatAreNoneOrEndNowhere) {
  const std::string absent = in_hex(pages.absent());
  std::memset(pages.writable(), '7', Pages::page);
  mprotect(pages.writable() + Pages::page, Pages::page, PROT_NONE);  // the read-only page: no zero before it
  const std::string open_end =
      ": expected a string that ends in zero, found memory at " + in_hex(pages.read_only()) + " that cannot be read";
  EXPECT_EQ(message(zellige_layout(pages.writable() + Pages::page - 5, &text)), "expression" + open_end);
  EXPECT_EQ(message(zellige_graph_from_json(pages.writable(), "g", &made_graph)), "text" + open_end);
  const char* const one = reinterpret_cast<const char*>(1);
  const std::string none = ": expected a string that ends in zero, found memory at 0x1 that cannot be read";
  EXPECT_EQ(message(zellige_graph_from_json(one, "g", &made_graph)), "text" + none);
  EXPECT_EQ(message(zellige_graph_from_json(scaled, one, &made_graph)), "name" + none);
  EXPECT_EQ(message(zellige_program_load(one, "n", "", 0, &made_program)), "manifest" + none);
  EXPECT_EQ(message(zellige_program_load("{}", one, "", 0, &made_program)), "name" + none);
  EXPECT_EQ(message(zellige_cubin(one, "sm_80", &text, &bytes)), "source" + none);
  EXPECT_EQ(message(zellige_cubin("", one, &text, &bytes)), "target" + none);
  EXPECT_EQ(message(zellige_layout_svg(one, 16, &text)), "expression" + none);
  EXPECT_EQ(message(zellige_program_load("{}", "n", one, 4, &made_program)),
            "cubin: expected 4 bytes that can be read, found memory at 0x1 that cannot");
  EXPECT_EQ(message(zellige_program_load("{}", "n", "\177ELF", SIZE_MAX, &made_program)).substr(0, 63),
            "cubin: expected 18446744073709551615 bytes that can be read, fo");
}

TEST_F(Misuse, ResultsThatCannotBePut) {
  const auto refused = [&](void* at, std::size_t size, const std::string& why) {
    EXPECT_EQ(message(zellige_graph_from_json(scaled, "g", static_cast<zellige_graph**>(at))), "graph: " + why);
    EXPECT_EQ(message(zellige_program_new(graph, nullptr, static_cast<zellige_program**>(at))), "program: " + why);
    EXPECT_EQ(message(zellige_layout("1:1", static_cast<char**>(at))), "result: " + why);
    EXPECT_EQ(message(zellige_program_time(program, static_cast<double*>(at))), "us: " + why);
    EXPECT_EQ(message(zellige_cubin("", "sm_80", &text, static_cast<std::size_t*>(at))), "bytes: " + why);
    EXPECT_EQ(message(zellige_gpu(static_cast<char**>(at), nullptr)), "target: " + why);
    EXPECT_EQ(message(zellige_gpu(nullptr, static_cast<char**>(at))), "why_not: " + why);
    static_cast<void>(size);
  };
  std::memset(pages.writable(), 0x5a, Pages::page);
  refused(pages.writable() + 4, 8,
          "expected an address that is a multiple of 8, found " + in_hex(pages.writable() + 4));
  for (char* at : {pages.read_only(), pages.absent(), reinterpret_cast<char*>(8)})
    refused(at, 8, "expected 8 bytes that can be written, found memory at " + in_hex(at) + " that cannot");
  for (std::size_t i = 0; i < Pages::page; ++i) ASSERT_EQ(pages.writable()[i], 0x5a) << i;
  // A structure that begins where it can be written, and does not end there.
  auto* const last = reinterpret_cast<zellige_tensor_info*>(pages.read_only() - 8);
  EXPECT_EQ(
      message(zellige_program_input(program, 0, last)),
      "info: expected 64 bytes that can be written, found memory at " + in_hex(pages.read_only()) + " that cannot");
}

TEST_F(Misuse, TextsAreFreedOnceAndByTheirOwnFunction) {
  ASSERT_EQ(zellige_layout("4:1", &text), ZELLIGE_OK);
  char* const given = text;
  EXPECT_EQ(freed([&] { zellige_text_free(given + 1); }), "text: expected one that a function of Zellige gave, found " +
                                                              in_hex(given + 1) + ", which is none or was freed");
  EXPECT_STREQ(given, "4:1");
  EXPECT_EQ(freed([&] { zellige_text_free(given); }), "accepted");
  EXPECT_EQ(freed([&] { zellige_text_free(given); }), "text: expected one that a function of Zellige gave, found " +
                                                          in_hex(given) + ", which is none or was freed");
  const auto foreign = std::make_unique<char[]>(8);
  EXPECT_NE(freed([&] { zellige_text_free(foreign.get()); }), "accepted");
  EXPECT_NE(freed([&] { zellige_text_free(reinterpret_cast<char*>(graph)); }), "accepted");
  EXPECT_NE(freed([&] { zellige_graph_free(reinterpret_cast<zellige_graph*>(foreign.get())); }), "accepted");
}

TEST_F(Misuse, OptionsOutOfRange) {
  const auto refused = [&](const std::function<void(zellige_options&)>& change) {
    zellige_options options{};
    options.size = sizeof options, options.on = ZELLIGE_ON_REFERENCE, options.target = "sm_80";
    change(options);
    return message(zellige_program_new(graph, &options, &made_program));
  };
  EXPECT_EQ(refused([](auto& o) { o.size = 0; }),
            "options, size: expected sizeof(zellige_options), which is 80, found 0");
  EXPECT_EQ(refused([](auto& o) { o.on = -1; }), "on: expected 0 to 3, found -1");
  EXPECT_EQ(refused([](auto& o) { o.on = 4; }), "on: expected 0 to 3, found 4");
  EXPECT_EQ(refused([](auto& o) { o.tune = -2147483647 - 1; }),
            "tune: expected 0 or how many tilings to measure, found -2147483648");
  const std::string workers = "workers: expected 0, which is one a core, or up to 1024 threads, found ";
  EXPECT_EQ(refused([](auto& o) { o.workers = -3; }), workers + "-3");
  EXPECT_EQ(refused([](auto& o) { o.workers = 1 << 30; }), workers + "1073741824");
  const std::string count = "constant_count: expected 0 to 1, the number of the graph's inputs, found ";
  EXPECT_EQ(refused([](auto& o) { o.constant_count = -1; }), count + "-1");
  EXPECT_EQ(refused([](auto& o) { o.constant_count = 1 << 30; }), count + "1073741824");
  EXPECT_EQ(refused([](auto& o) { o.constant_count = 1; }), "constants: expected an address, found NULL");
  static const char* const none[] = {nullptr};
  EXPECT_EQ(refused([](auto& o) { o.constants = none, o.constant_count = 1; }),
            "constants[0]: expected a string, found NULL");
  EXPECT_EQ(refused([&](auto& o) {
              o.constants = reinterpret_cast<const char* const*>(pages.absent()), o.constant_count = 1;
            }),
            "constants: expected 8 bytes that can be read, found memory at " + in_hex(pages.absent()) + " that cannot");
  EXPECT_EQ(refused([](auto& o) { o.target = reinterpret_cast<const char*>(1); }),
            "target: expected a string that ends in zero, found memory at 0x1 that cannot be read");
  EXPECT_EQ(refused([](auto& o) { o.tiling = reinterpret_cast<const char*>(1); }),
            "tiling: expected a string that ends in zero, found memory at 0x1 that cannot be read");
  const auto at = [&](const void* options) {
    return message(zellige_program_new(graph, static_cast<const zellige_options*>(options), &made_program));
  };
  EXPECT_EQ(at(pages.absent()),
            "options: expected 8 bytes that can be read, found memory at " + in_hex(pages.absent()) + " that cannot");
  EXPECT_EQ(at(pages.writable() + 1),
            "options: expected an address that is a multiple of 8, found " + in_hex(pages.writable() + 1));
  auto* const cut = reinterpret_cast<zellige_options*>(pages.absent() - 8);
  mprotect(pages.read_only(), Pages::page, PROT_READ | PROT_WRITE);
  cut->size = sizeof(zellige_options);
  EXPECT_EQ(at(cut),
            "options: expected 80 bytes that can be read, found memory at " + in_hex(pages.absent()) + " that cannot");
}

TEST_F(Misuse, NumbersOutOfRange) {
  for (const int index : {-1, 1, 1 << 30, -2147483647 - 1}) {
    const std::string end = ", counted from 0, found " + std::to_string(index);
    EXPECT_EQ(message(zellige_graph_input(graph, index, &info)), "graph scaled: has 1 inputs" + end);
    EXPECT_EQ(message(zellige_graph_output(graph, index, &info)), "graph scaled: has 1 outputs" + end);
    EXPECT_EQ(message(zellige_program_input(program, index, &info)), "program scaled: has 1 inputs" + end);
    EXPECT_EQ(message(zellige_program_output(program, index, &info)), "program scaled: has 1 outputs" + end);
  }
  for (const int which : {10, 1 << 30, -1})
    EXPECT_EQ(message(zellige_program_text(program, static_cast<zellige_text>(which), &text)),
              "zellige_program_text: expected 0 to 9, found " + std::to_string(which));
  for (const int bits : {0, -1, 3, 1 << 30}) EXPECT_NE(message(zellige_layout_svg("4:1", bits, &text)), "accepted");
}

/// pthread_create gives no more threads while this is set.
bool no_threads = false;

TEST_F(Misuse, AMachineWithoutMoreThreadsComputesWithThoseThereAre) {
  zellige_graph* const wide = graph_of(R"({"zellige_graph": 1, "name": "wide",
    "inputs": [{"name": "A", "dtype": "f32", "shape": [64, 64]}, {"name": "B", "dtype": "f32", "shape": [64, 64]}],
    "operators": [{"op": "matmul", "inputs": ["A", "B"], "outputs": ["Y"]}], "outputs": ["Y"]})");
  for (const zellige_on on : {ZELLIGE_ON_REFERENCE, ZELLIGE_ON_EMULATOR}) {
    zellige_program* const p = program_of(wide, on);
    alignas(16) static float a[4096], b[4096], product[4096];
    for (int i = 0; i < 4096; ++i) a[i] = static_cast<float>(i % 5), b[i] = i / 64 == i % 64 ? 2 : 0, product[i] = -1;
    const std::int64_t shape[] = {64, 64};
    const auto tensor = [&](float* at) { return zellige_tensor{at, 1, 0, 2, 2, 32, 1, shape, nullptr, 0}; };
    const zellige_tensor inputs[] = {tensor(a), tensor(b)}, output = tensor(product);
    for (const bool without : {false, true}) {  // first with them: OpenBLAS starts its own once
      no_threads = without;
      const std::string why = message(zellige_program_call(p, inputs, 2, &output, 1, nullptr));
      no_threads = false;
      EXPECT_EQ(why, "accepted");
    }
    for (int i = 0; i < 4096; ++i) ASSERT_EQ(product[i], 2 * a[i]) << i << " on " << on;
    zellige_program_free(p);
  }
  zellige_graph_free(wide);
}

}  // namespace

extern "C" int pthread_create(pthread_t* made, const pthread_attr_t* attributes, void* (*work)(void*), void* given) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return no_threads ? EAGAIN : real(made, attributes, work, given);
}
