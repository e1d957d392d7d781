// Uses an installed zellige::program, which puts nothing but <zellige/...> on the include path.
#include <zellige/program.hpp>

#if __has_include("graph/graph.hpp") || __has_include("run/run.hpp")
#error "modules are on the include path"
#endif

int main() {
  const char* const text = R"({"zellige_graph": 1, "inputs": [{"name": "X", "dtype": "f32", "shape": [4, 8]}],
    "operators": [{"op": "exp", "inputs": ["X"], "outputs": [{"name": "Y", "strides": [8, 1]}]}], "outputs": ["Y"]})";
  zellige::Program program(zellige::Graph::from_json(text), {ZELLIGE_ON_REFERENCE});
  alignas(16) float x[32] = {}, y[32] = {};
  const zellige_tensor_info info = program.inputs()[0];
  zellige_tensor in{x, 1, 0, info.rank, 2, 32, 1, info.shape, info.strides, 0}, out = in;
  out.data = y;
  program.call({in}, {out});
  return y[0] == 1 && y[31] == 1 ? 0 : 1;
}
