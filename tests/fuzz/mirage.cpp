// Mirage's JSON form, from bytes that are mutated numbers and words: op_types, dimensions and guids in a
// valid frame, so that the fuzzer gets through the JSON syntax to the importer; and from arbitrary bytes.
#include "check_graph.hpp"

namespace {

using zellige::json::Json;

constexpr const char* op_types[] = {"tb_exp_op",
                                    "tb_add_op",
                                    "tb_matmul_op",
                                    "tb_rms_norm_op",
                                    "tb_reduction_1_op",
                                    "tb_reduction_1_to_dimx_op",
                                    "tb_reduction_0_max_op",
                                    "tb_split_1_op",
                                    "tb_concat_1_op",
                                    "tb_accum_nored_op",
                                    "tb_accum_red_ld_sum_op",
                                    "tb_accum_redtox_ld_sum_op",
                                    "tb_accum_nored_rescale_op",
                                    "tb_clamp_op",
                                    "tb_input_op",
                                    "tb_output_op",
                                    "tb_accum_max_op",
                                    "tb_pow_op"};

/// Draws numbers from the fuzzer's bytes; 0 when they are used up.
struct Bytes {
  const std::uint8_t* data;
  std::size_t left;
  int next(int below) {
    if (left == 0) return 0;
    --left;
    return *data++ % below;
  }
};

Json tensor(Bytes& b, int guid, bool tile) {
  const int extents[] = {8, 4, 2, 1, 16, 3, 0, -1};
  Json t = {{"guid", guid}, {"data_type", b.next(16) == 15 ? 920 : 921}, {"num_dims", 2}};
  t["dim"] = {extents[b.next(8)], extents[b.next(8)], 0, 0};
  if (tile) t["after_accum"] = b.next(4) == 3;
  return t;
}

Json map(Bytes& b) { return {{"x", b.next(4) - 1}, {"y", b.next(3) - 1}, {"z", -1}}; }

Json candidate(Bytes& b) {
  Json x = tensor(b, 1, false), y = tensor(b, 2, false), body = Json::array();
  std::vector<Json> tiles = {tensor(b, 10, true)};
  body.push_back({{"op_type", "tb_input_op"},
                  {"input_map", map(b)},
                  {"forloop_dim", b.next(4) - 1},
                  {"dtensor", x},
                  {"input_tensors", Json::array()},
                  {"output_tensors", {tiles[0]}}});
  const int operators = b.next(6);
  for (int i = 0; i < operators; ++i) {
    Json in = Json::array(), out = Json::array();
    for (int k = b.next(3); k >= 0; --k) in.push_back(tiles[b.next(static_cast<int>(tiles.size()))]);
    for (int k = b.next(2); k >= 0; --k) {
      tiles.push_back(tensor(b, 10 + static_cast<int>(tiles.size()), true));
      out.push_back(tiles.back());
    }
    body.push_back(
        {{"op_type", op_types[b.next(std::size(op_types))]}, {"input_tensors", in}, {"output_tensors", out}});
  }
  body.push_back({{"op_type", "tb_output_op"},
                  {"output_map", map(b)},
                  {"dtensor", y},
                  {"input_tensors", {tiles.back()}},
                  {"output_tensors", Json::array()}});
  const Json block = {{"grid_dim", {{"x", 1 + b.next(3)}, {"y", 1 + b.next(2)}, {"z", 1}}},
                      {"block_dim", {{"x", 32 * b.next(5)}, {"y", 1}, {"z", 1}}},
                      {"forloop_range", b.next(4)},
                      {"reduction_dimx", b.next(5)},
                      {"operators", body}};
  return Json::array(
      {{{"op_type", "kn_input_op"},
        {"input_strides", {b.next(9), 1}},
        {"input_tensors", Json::array()},
        {"output_tensors", {x}}},
       {{"op_type", "kn_customized_op"}, {"input_tensors", {x}}, {"output_tensors", {y}}, {"bgraph", block}},
       {{"op_type", "kn_output_op"}, {"input_tensors", {y}}, {"output_tensors", Json::array()}}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes > 0 && (data[0] == '[' || data[0] == '{')) {
    zellige::graph::fuzz::parse(data, bytes);
    return 0;
  }
  Bytes b{data, bytes};
  const std::string text = candidate(b).dump();
  zellige::graph::fuzz::parse(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return 0;
}
