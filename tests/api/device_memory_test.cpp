// Checks of device memory by a launch, through a fake driver that knows little.
#include "launch.hpp"

namespace {

TEST_F(Launch, RefusesMemoryThatItsKernelsCannotAccess) {
  gpu().memory = {{0x10000, 0x1000}, {0x20000, 0x1000, 1, false}, {0x30000, 0x40}, {0x30040, 0x40}, {0x40000, 0x40}};
  Program program(Graph::from_json(scaled), {ZELLIGE_ON_GPU});
  const auto message = [&](void* x, void* y) {
    const std::string launched = why([&] { program.launch({x}, {y}, nullptr); });
    const std::string called = why([&] {
      program.call({on_gpu(reinterpret_cast<std::uintptr_t>(x), 0)}, {on_gpu(reinterpret_cast<std::uintptr_t>(y), 0)});
    });
    EXPECT_EQ(launched, called);
    return launched;
  };
  void *const good = address(0x10000), *const more = address(0x10800);
  const std::string input = "program scaled, input X: expected 128 bytes of the GPU's memory, found ",
                    output = "program scaled, output Y: expected 128 bytes of the GPU's memory, found ";
  EXPECT_EQ(message(good, more), "nothing was refused");
  alignas(16) static float host[32];
  const std::string on_host = in_hex(host) + ", where CUDA knows none: it is the host's, or was freed";
  EXPECT_EQ(message(host, more), input + on_host);
  EXPECT_EQ(message(good, host), output + on_host);
  EXPECT_EQ(message(address(0x10f90), more), input + "112 up to the end of the allocation");
  EXPECT_EQ(message(address(0x20000), more), input + "0x20000 on cuda:1, which the current context cannot access");
  EXPECT_EQ(message(address(0x30000), more), "nothing was refused") << "two adjacent allocations";
  EXPECT_EQ(message(address(0x40000), more), input + "64 up to the end of the allocation");
  EXPECT_EQ(message(nullptr, more), "program scaled, input X: expected an address, found NULL");
  EXPECT_EQ(message(good, nullptr), "program scaled, output Y: expected an address, found NULL");
  gpu().memory.clear();
  EXPECT_EQ(message(good, more), input + "0x10000, where CUDA knows none: it is the host's, or was freed");
  EXPECT_EQ(gpu().launches.size(), 4u);
}

TEST_F(Launch, AsksOncePerAllocationAndLaunch) {
  gpu().memory = {{0x10000, 0x1000}, {0x20000, 0x1000}};
  Program program(Graph::from_json(scaled), {ZELLIGE_ON_GPU});
  program.launch({address(0x10000)}, {address(0x10800)}, nullptr);
  EXPECT_EQ(gpu().pointer_queries, 1);
  program.launch({address(0x10000)}, {address(0x20000)}, nullptr);
  EXPECT_EQ(gpu().pointer_queries, 3);
}

TEST_F(Launch, RefusesAWorkspaceThatIsNone) {
  gpu().memory = {{0x10000, 0x1000}, {0x20000, 0x10}};
  Program program(Graph::from_json(two_kernels), {.on = ZELLIGE_ON_GPU, .as_given = true});
  const auto message = [&](std::uintptr_t at) {
    return why([&] { program.launch({address(0x10000)}, {address(0x10800)}, nullptr, address(at)); });
  };
  ASSERT_EQ(program.workspace(), 256);
  EXPECT_EQ(message(0x10a00), "nothing was refused");
  EXPECT_EQ(message(0x10a10),
            "program two, workspace: expected memory that begins at a multiple of 256 bytes, found 16 above one");
  EXPECT_EQ(message(0x20000),
            "program two, workspace: expected 256 bytes of the GPU's memory, found 16 up to the end of the "
            "allocation");
  EXPECT_EQ(message(0x30000),
            "program two, workspace: expected 256 bytes of the GPU's memory, found 0x30000, where CUDA knows "
            "none: it is "
            "the host's, or was freed");
}

TEST_F(Launch, AnOutputThatChangesAnInputIsGivenItsMemory) {
  Program program(Graph::from_json(R"({"zellige_graph": 1, "name": "cached",
    "inputs": [{"name": "K", "dtype": "f32", "shape": [4, 8]}, {"name": "N", "dtype": "int32", "shape": [1]},
               {"name": "U", "dtype": "f32", "shape": [1, 8]}],
    "operators": [{"op": "scatter", "inputs": ["K", "N", "U"], "outputs": [{"name": "K1", "memory": "K"}]}],
    "outputs": ["K1"]})"),
                  {ZELLIGE_ON_GPU});
  const std::vector<void*> inputs = {address(0x1000), address(0x2000), address(0x3000)};
  gpu().parameters = {8, 8, 8};
  EXPECT_EQ(why([&] { program.launch(inputs, {address(0x4000)}, nullptr); }),
            "program cached, output K1: expected the memory of input K, which it changes in place, found "
            "other memory");
  EXPECT_EQ(why([&] { program.launch(inputs, {address(0x1000)}, nullptr); }), "nothing was refused");
}

/// The exchange table of a framework.
struct Exchange {
  std::uint32_t major = 1, minor = 0;
  const void* earlier = nullptr;
  void *allocate = nullptr, *own = nullptr, *give = nullptr;
  int (*view)(void*, zellige_tensor*) = [](void* object, zellige_tensor* to) {
    return *to = *static_cast<zellige_tensor*>(object), 0;
  };
  int (*current_stream)(int, std::int32_t, void**) = [](int, std::int32_t, void** to) {
    return *to = address(0x77), 0;
  };
};

TEST_F(Launch, TakesObjectsByTheTableOfTheirFramework) {
  zellige_graph* graph = nullptr;
  zellige_program* p = nullptr;
  ASSERT_EQ(zellige_graph_from_json(scaled, "g", &graph), ZELLIGE_OK);
  ASSERT_EQ(zellige_program_new(graph, nullptr, &p), ZELLIGE_OK);
  zellige_tensor x = on_gpu(0x1000, 0), y = on_gpu(0x2000, 0);
  const Exchange table;
  const auto message = [&](void* in, const void* exchange) -> std::string {
    void *inputs[] = {in}, *outputs[] = {&y};
    return zellige_program_call_objects(p, exchange, inputs, 1, outputs, 1, nullptr) ? zellige_last_error()
                                                                                     : "accepted";
  };
  const int asked = gpu().pointer_queries;
  EXPECT_EQ(message(&x, &table), "accepted");
  EXPECT_EQ(gpu().launches.at(0).stream, address(0x77));
  EXPECT_EQ(gpu().pointer_queries, asked);  // a framework's tensors are alive
  EXPECT_EQ(message(nullptr, &table), "inputs[0]: expected an object, found NULL");
  EXPECT_EQ(message(&x, address(0x8)), "exchange: expected 56 bytes that can be read, found memory at 0x8 that cannot");
  x.rank = 1 << 30;
  EXPECT_EQ(message(&x, &table), "program scaled, input X: expected rank 2, found 1073741824");
  x.rank = 2, x.shape = nullptr;
  EXPECT_EQ(message(&x, &table), "program scaled, input X: expected the address of a shape, found NULL");
  Exchange without;
  without.view = nullptr;
  EXPECT_EQ(message(&x, &without), "DLPack: expected functions in the exchange table, found NULL");
  Exchange other;
  other.major = 2;
  EXPECT_EQ(message(&x, &other), "DLPack: expected version 1 of the exchange table, found 2");
  Exchange failing;
  failing.view = [](void*, zellige_tensor*) { return -1; };
  EXPECT_EQ(message(&x, &failing), "an argument cannot be read as a tensor");
  zellige_program_free(p), zellige_graph_free(graph);
}

TEST_F(Launch, ObjectsOfOneFormAreCheckedByTheirAddresses) {
  zellige_graph* graph = nullptr;
  zellige_program* p = nullptr;
  ASSERT_EQ(zellige_graph_from_json(scaled, "g", &graph), ZELLIGE_OK);
  ASSERT_EQ(zellige_program_new(graph, nullptr, &p), ZELLIGE_OK);
  const Exchange table;
  const auto called = [&](zellige_tensor x, zellige_tensor y) -> std::string {
    void *inputs[] = {&x}, *outputs[] = {&y};
    return zellige_program_call_objects(p, &table, inputs, 1, outputs, 1, nullptr) ? zellige_last_error() : "accepted";
  };
  for (std::uintptr_t i = 1; i < 5; ++i)  // on one GPU and on another, alternating
    for (const int device : {0, 1}) {
      EXPECT_EQ(called(on_gpu(i << 12, device), on_gpu(i << 16, device)), "accepted");
      const FakeLaunch& last = gpu().launches.back();
      EXPECT_EQ(last.arguments, (std::vector<std::uint64_t>{i << 12, i << 16}));
      EXPECT_EQ(last.context, device == 0 ? first : second);
    }
  const auto refused_as_at_first = [&](const zellige_tensor& x, const zellige_tensor& y, const std::string& sentence) {
    EXPECT_EQ(called(x, y), "program scaled, " + sentence);
  };
  refused_as_at_first(on_gpu(0x1004, 0), on_gpu(0x2000, 0),
                      "input X: expected memory that begins at a multiple of 16 bytes, found 4 above one");
  refused_as_at_first(on_gpu(0x1000, 0), on_gpu(0, 0), "output Y: expected an address, found NULL");
  refused_as_at_first(on_gpu(0x1000, 0), on_gpu(0x1040, 0),
                      "output Y: expected memory of its own, found some of input X");
  refused_as_at_first(on_gpu(0x1000, 0), on_gpu(0x2000, 1),
                      "output Y: expected it on cuda:0, where input X lies, found it on cuda:1");
  zellige_tensor x = on_gpu(0x1000, 0);
  x.dtype_bits = 16;
  refused_as_at_first(x, on_gpu(0x2000, 0), "input X: expected f32, found f16");
  const std::int64_t shape[] = {4, 9}, strides[] = {9, 1};
  x = on_gpu(0x1000, 0), x.shape = shape;
  refused_as_at_first(x, on_gpu(0x2000, 0), "input X: expected shape (4, 8), found (4, 9)");
  x = on_gpu(0x1000, 0), x.strides = strides;
  refused_as_at_first(x, on_gpu(0x2000, 0), "input X: expected strides (8, 1), found (9, 1)");
  x = on_gpu(0x1000, 0), x.byte_offset = 8;
  refused_as_at_first(x, on_gpu(0x2000, 0),
                      "input X: expected memory that begins at a multiple of 16 bytes, found 8 above one");
  EXPECT_EQ(called(on_gpu(0x1000, 0), on_gpu(0x2000, 0)), "accepted");
  EXPECT_EQ(gpu().launches.size(), 9u);
  zellige_program_free(p), zellige_graph_free(graph);
}

}  // namespace
