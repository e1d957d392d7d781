// Sequences of C ABI calls from bytes: each selects a function and its arguments, most of them valid, from
// live and freed handles, memory that is writable, read-only or unmapped, strings, and numbers of all sizes.
// The GPU is the fake driver of tests/api, so that launches are included; programs run on the host by the
// reference, because each new program of the emulator runs the host compiler.
#include <dlfcn.h>
#include <zellige/api.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "../api/pages.hpp"

namespace {

constexpr const char* graphs[] = {
    R"({"zellige_graph": 1, "name": "scaled", "inputs": [{"name": "X", "dtype": "f32", "shape": [4, 8]}],
  "operators": [{"op": "mul_scalar", "inputs": ["X"], "scalar": 3, "outputs": [{"name": "Y", "strides": [8, 1]}]}],
  "outputs": ["Y"]})",
    R"({"zellige_graph": 1, "name": "two", "inputs": [{"name": "X", "dtype": "f32", "shape": [4, 8]}],
  "operators": [{"op": "softmax", "inputs": ["X"], "dim": 0, "outputs": ["T"]},
                {"op": "softmax", "inputs": ["T"], "dim": 1, "outputs": [{"name": "Y", "strides": [8, 1]}]}],
  "outputs": ["Y"]})",
    R"({"zellige_graph": 1, "name": "cached",
  "inputs": [{"name": "K", "dtype": "f32", "shape": [4, 8]}, {"name": "N", "dtype": "int32", "shape": [1]},
             {"name": "U", "dtype": "f32", "shape": [1, 8]}],
  "operators": [{"op": "scatter", "inputs": ["K", "N", "U"], "outputs": [{"name": "K1", "memory": "K"}]}],
  "outputs": ["K1"]})"};
constexpr const char* by_hand = R"({"version": 2, "name": "given", "target": "sm_90a", "buffer_size": 256,
  "tensors": [
    {"name": "X", "role": "input", "position": 0, "dtype": "f32", "shape": [4, 8], "strides": [8, 1], "bytes": 128},
    {"name": "Y", "role": "output", "position": 0, "dtype": "f32", "shape": [4, 8], "strides": [8, 1], "bytes": 128}],
  "kernels": [{"name": "k", "grid": [3, 1, 1], "block": [64, 1, 1], "shared_bytes": 0, "programmatic": true,
    "arguments": [{"tensor": "X", "writes": false}, {"tensor": "Y", "writes": true}]}]})";

/// The part of DLPack's DLPackExchangeAPI that the library uses.
struct Exchange {
  std::uint32_t major = 1, minor = 0;
  const void* earlier = nullptr;
  void *allocate = nullptr, *own = nullptr, *give = nullptr;
  int (*view)(void*, zellige_tensor*) = [](void*, zellige_tensor* to) { return *to = {}, 0; };
  int (*current_stream)(int, std::int32_t, void**) = [](int, std::int32_t, void** to) { return *to = nullptr, 0; };
};

/// The fuzzer's bytes as choices; 0 when they are used up.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t bytes) : at_(data), left_(bytes) {}
  bool any() const { return left_ > 0; }
  std::size_t below(std::size_t count) {
    if (left_ == 0) return 0;
    --left_;
    return *at_++ % count;
  }
  /// Mostly the right one, which is 0.
  bool spoiled() { return below(8) == 7; }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

class Sequence {
 public:
  explicit Sequence(Choices choices) : choices_(choices) {
    std::memset(pages_.writable(), 0, Pages::page);
    numbers_[0] = 4, numbers_[1] = 8, numbers_[2] = 8, numbers_[3] = 1;
  }
  ~Sequence() {
    for (void* h : handles_) {
      zellige_graph_free(static_cast<zellige_graph*>(h));
      zellige_program_free(static_cast<zellige_program*>(h));
    }
    for (char* t : texts_) zellige_text_free(t);
  }
  void run() {
    for (int calls = 0; calls < 24 && choices_.any(); ++calls) step();
  }

 private:
  static constexpr std::size_t functions = 26;

  // ---- Arguments ----

  void* wrong_address() {
    void* const all[] = {nullptr,
                         reinterpret_cast<void*>(1),
                         reinterpret_cast<void*>(0x1000),
                         reinterpret_cast<void*>(0xffff800000000000),
                         pages_.writable() + 1,
                         pages_.writable() + 4,
                         pages_.read_only() - 8,
                         pages_.read_only(),
                         pages_.absent() - 8,
                         pages_.absent(),
                         spare_,
                         handle()};
    return all[choices_.below(std::size(all))];
  }
  void* handle() { return handles_.empty() ? nullptr : handles_[choices_.below(handles_.size())]; }
  template <class Handle>
  Handle* handle_as() {
    return static_cast<Handle*>(choices_.spoiled() ? wrong_address() : handle());
  }
  template <class T>
  T* place() {
    return static_cast<T*>(choices_.spoiled() ? wrong_address() : pages_.writable() + 64 * choices_.below(16));
  }
  const char* text(std::initializer_list<const char*> good) {
    if (choices_.spoiled()) return static_cast<const char*>(wrong_address());
    return good.begin()[choices_.below(good.size())];
  }
  int number(int right) {
    constexpr int all[] = {0, 1, 2, 3, 7, -1, -3, 1 << 30, INT_MIN, INT_MAX};
    return choices_.spoiled() ? all[choices_.below(std::size(all))] : right;
  }
  zellige_tensor tensor() {
    zellige_tensor t{};
    t.device_type = number(1 + static_cast<int>(choices_.below(2))), t.device_id = number(0), t.rank = number(2);
    t.dtype_code = static_cast<std::uint8_t>(number(2)), t.dtype_bits = static_cast<std::uint8_t>(number(32));
    t.dtype_lanes = static_cast<std::uint16_t>(number(1));
    t.data = choices_.spoiled()   ? wrong_address()
             : t.device_type == 2 ? reinterpret_cast<void*>(0x1000 * (1 + choices_.below(4)))
                                  : pages_.writable() + 1024 + 128 * choices_.below(20);
    t.shape = choices_.spoiled() ? static_cast<std::int64_t*>(wrong_address()) : numbers_;
    t.strides = choices_.spoiled()  ? static_cast<std::int64_t*>(wrong_address())
                : choices_.below(2) ? numbers_ + 2
                                    : nullptr;
    t.byte_offset = choices_.spoiled() ? UINT64_MAX - choices_.below(200) : 0;
    return t;
  }
  const zellige_options* options() {
    options_ = {};
    options_.size = choices_.spoiled() ? choices_.below(256) : sizeof options_;
    options_.on = number(choices_.below(4) ? ZELLIGE_ON_REFERENCE : ZELLIGE_ON_GPU);
    if (options_.on == ZELLIGE_ON_AUTO || options_.on == ZELLIGE_ON_EMULATOR) options_.on = ZELLIGE_ON_GPU;
    options_.tune = choices_.below(32) == 31 ? number(-1) : 0;
    options_.target = text({"sm_90a", "sm_80", nullptr, "sm_1"});
    options_.tiling = text({nullptr, "given", "chosen", by_hand});
    options_.constants = choices_.spoiled() ? static_cast<const char* const*>(wrong_address()) : names_;
    options_.constant_count = number(static_cast<int>(choices_.below(2)));
    options_.workers = number(0), options_.as_given = number(0), options_.keep = number(0);
    return choices_.spoiled() ? static_cast<const zellige_options*>(wrong_address()) : &options_;
  }
  const zellige_cost* cost() {
    cost_ = {choices_.spoiled() ? choices_.below(64) : sizeof cost_, 1.0 * number(8), 1.0 * number(3), number(1),
             number(0)};
    return choices_.spoiled() ? static_cast<const zellige_cost*>(wrong_address()) : &cost_;
  }
  int max_inputs() { return choices_.below(2) ? 3 : 1; }

  // ---- Results ----

  /// A status is one of three, and one that is not success has its sentence. Nothing here is Zellige's own fault.
  bool good(zellige_status status) {
    if (status == ZELLIGE_OK) return true;
    if (status != ZELLIGE_REFUSED || !*zellige_last_error()) {
      std::fprintf(stderr, "status %d: %s\n", static_cast<int>(status), zellige_last_error());
      std::abort();
    }
    return false;
  }
  template <class Handle, class Make>
  void keep(Make make) {
    Handle** const to = place<Handle*>();
    if (good(make(to))) handles_.push_back(*to);
  }
  template <class Make>
  void keep_text(Make make) {
    char** const to = place<char*>();
    if (good(make(to)) && to) texts_.push_back(*to);  // zellige_gpu takes NULL
  }

  void step() {
    using Graph = zellige_graph;
    using Program = zellige_program;
    switch (choices_.below(functions)) {
      case 0:
      case 1:
        return keep<Graph>([&](Graph** to) {
          const char* const form = text({graphs[0], graphs[1], graphs[2], "", "[]", "{"});
          return zellige_graph_from_json(form, text({"g", nullptr}), to);
        });
      case 2:
      case 3:
      case 4:
        return keep<Program>([&](Program** to) { return zellige_program_new(handle_as<Graph>(), options(), to); });
      case 5:
        return keep<Program>([&](Program** to) {
          const auto [code, size] = cubin();
          return zellige_program_load(text({sealed(), by_hand, graphs[0], ""}), text({"m"}), code, size, to);
        });
      case 24:
        return keep_text([&](char** to) {
          const auto [code, size] = cubin();
          return zellige_manifest_seal(text({by_hand, sealed(), ""}), text({"m"}), code, size, to);
        });
      case 6:
        return zellige_graph_free(handle_as<Graph>());
      case 7:
        return zellige_program_free(handle_as<Program>());
      case 8:
        return zellige_text_free(texts_.empty() || choices_.spoiled() ? static_cast<char*>(wrong_address())
                                                                      : texts_[choices_.below(texts_.size())]);
      case 9:
        return keep_text([&](char** to) { return zellige_graph_json(handle_as<Graph>(), to); });
      case 10:
        return keep_text([&](char** to) {
          return zellige_program_text(handle_as<Program>(),
                                      static_cast<zellige_text>(number(static_cast<int>(choices_.below(8)))), to);
        });
      case 11:
        zellige_graph_inputs(handle_as<Graph>()), zellige_graph_outputs(handle_as<Graph>());
        zellige_program_inputs(handle_as<Program>()), zellige_program_outputs(handle_as<Program>());
        zellige_program_price(handle_as<Program>()), zellige_program_workspace(handle_as<Program>());
        return;
      case 12:
        good(zellige_graph_input(handle_as<Graph>(), number(0), place<zellige_tensor_info>()));
        good(zellige_graph_output(handle_as<Graph>(), number(0), place<zellige_tensor_info>()));
        return;
      case 13:
        good(zellige_program_input(handle_as<Program>(), number(0), place<zellige_tensor_info>()));
        good(zellige_program_output(handle_as<Program>(), number(0), place<zellige_tensor_info>()));
        good(zellige_program_compile(handle_as<Program>()));
        return;
      case 14:
      case 15:
      case 16:
      case 17: {
        zellige_tensor in[] = {tensor(), tensor(), tensor()}, out = tensor();
        auto* const inputs = choices_.spoiled() ? static_cast<zellige_tensor*>(wrong_address()) : in;
        auto* const outputs = choices_.spoiled() ? static_cast<zellige_tensor*>(wrong_address()) : &out;
        good(zellige_program_call(handle_as<Program>(), inputs, number(max_inputs()), outputs, number(1), nullptr));
        return;
      }
      case 18:
      case 19: {
        void *in[] = {tensor().data, tensor().data, tensor().data}, *out[] = {tensor().data};
        auto* const inputs = choices_.spoiled() ? static_cast<void**>(wrong_address()) : in;
        auto* const outputs = choices_.spoiled() ? static_cast<void**>(wrong_address()) : out;
        void* const space = choices_.below(4) ? nullptr : wrong_address();
        good(zellige_program_launch(handle_as<Program>(), inputs, outputs, space,
                                    reinterpret_cast<void*>(choices_.below(4))));
        return;
      }
      case 20: {
        Exchange table;
        if (choices_.spoiled()) table.major = 0;
        if (choices_.spoiled()) table.view = nullptr;
        if (choices_.spoiled()) table.current_stream = nullptr;
        void *in[] = {&table, wrong_address(), wrong_address()}, *out[] = {&table};
        const void* const exchange = choices_.spoiled() ? wrong_address() : &table;
        good(zellige_program_call_objects(handle_as<Program>(), exchange, in, number(max_inputs()), out, number(1),
                                          nullptr));
        return;
      }
      case 21:
        return keep_text([&](char** to) {
          return zellige_layout(text({"composition((_4,_8):(_8,_1), _16:_2)", "(4,8):(8,1)", "((", "coalesced(4:1)"}),
                                to);
        });
      case 22:
        keep_text([&](char** to) { return zellige_layout_operations(to); });
        keep_text([&](char** to) { return zellige_operators(to); });
        keep_text([&](char** to) { return zellige_dtypes(to); });
        keep_text([&](char** to) { return zellige_targets(to); });
        return keep_text([&](char** to) {
          return zellige_layout_svg(text({"(4,8):(8,1)", "4:1", "0:0", ""}), number(16), to);
        });
      case 23:
        keep_text([&](char** to) { return zellige_gpu(to, nullptr); });
        good(zellige_keep(text({"a", ""}), text({"kept", ""})));
        keep_text([&](char** to) { return zellige_kept(text({"a", "b"}), to); });
        keep_text([&](char** to) {
          return zellige_cubin(text({"", "__global__ void k() {}"}), text({"sm_90a", "sm_80", "sm_0"}), to,
                               place<std::size_t>());
        });
        return;
      case 25:
        zellige_cost_compare(static_cast<zellige_relation>(number(static_cast<int>(choices_.below(6)))), cost(),
                             cost());
        zellige_cost_time(cost());
        zellige_cost_pays(cost(), cost(), cost());
        zellige_cost_worth(cost(), cost(), cost());
        return;
    }
  }

  static const std::string& compiled() {
    static const std::string bytes = *reinterpret_cast<const std::string* (*)()>(dlsym(driver(), "fake_cubin"))();
    return bytes;
  }
  /// The cubin, or what is none.
  std::pair<const void*, std::size_t> cubin() {
    const std::string& whole = compiled();
    const std::size_t sizes[] = {whole.size(), 0, 4, whole.size() / 2, SIZE_MAX, SIZE_MAX / 2};
    const std::size_t size = sizes[choices_.spoiled() ? choices_.below(std::size(sizes)) : 0];
    return {choices_.spoiled() || size > whole.size() ? wrong_address() : whole.data(), size};
  }
  /// The manifest that belongs to the cubin.
  static const char* sealed() {
    static const std::string text = [] {
      char* made = nullptr;
      if (zellige_manifest_seal(by_hand, "m", compiled().data(), compiled().size(), &made)) {
        std::fprintf(stderr, "%s\n", zellige_last_error());
        std::exit(1);
      }
      const std::string copy = made;
      zellige_text_free(made);
      return copy;
    }();
    return text.c_str();
  }
  static void* driver() {
    static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library || !dlsym(library, "fake_cubin")) {
      std::fprintf(stderr, "libcuda.so.1 is not the fake one: set LD_LIBRARY_PATH to tests/api/fake of the build\n");
      std::exit(1);
    }
    return library;
  }

  Choices choices_;
  Pages pages_;
  std::vector<void*> handles_;  // live and freed ones
  std::vector<char*> texts_;    // the same
  std::int64_t numbers_[4];
  const char* const names_[2] = {"X", "nothing"};
  alignas(16) char spare_[256] = {};
  zellige_cost cost_{};
  zellige_options options_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  Sequence({data, bytes}).run();
  return 0;
}
