#include <algorithm>
#include <map>

#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "json/json.hpp"
#include "strings/nearest.hpp"

namespace zellige::json {
namespace {

using graph::Where, graph::OpKind, graph::fail_at, graph::max_extent, graph::max_rank;

/// A tensor as Mirage's JSON describes it.
struct MirageTensor {
  std::uint64_t guid;
  graph::DType dtype;
  graph::Shape shape;
};

std::uint64_t read_guid(const Where& where, const Json& j) {
  return static_cast<std::uint64_t>(integer(where, "guid", member(where, j, "guid"), 0, INT64_MAX));
}

MirageTensor read_tensor(const Where& where, const Json& j) {
  static const std::map<std::int64_t, graph::DType> dtypes = {
      {920, graph::DType::bf16}, {921, graph::DType::f16}, {930, graph::DType::f32}};
  const std::uint64_t guid = read_guid(where, j);
  const auto dtype = dtypes.find(integer(where, "data_type", member(where, j, "data_type"), 0, 9999));
  if (dtype == dtypes.end())
    fail_at(where, "expected data_type 920 (bf16), 921 (f16) or 930 (f32), found {}", describe(j["data_type"]));
  MirageTensor t{guid, dtype->second, {}};
  const std::int64_t rank = integer(where, "num_dims", member(where, j, "num_dims"), 1, max_rank);
  const Json& dim = list(where, "dim", member(where, j, "dim"));
  if (static_cast<std::int64_t>(dim.size()) < rank)
    fail_at(where, "expected dim to hold the {} extents that num_dims says, found {}", rank, dim.size());
  for (std::int64_t d = 0; d < rank; ++d) t.shape.push_back(integer(where, "dim", dim[d], 1, max_extent));
  return t;
}

std::array<int, 3> read_map(const Where& where, const char* key, const Json& j) {
  const Json& m = member(where, j, key);
  std::array<int, 3> map;
  const char* axes[] = {"x", "y", "z"};
  for (int a = 0; a < 3; ++a)
    map[a] = static_cast<int>(integer(where, key, member(where, m, axes[a]), -1, max_rank - 1));
  return map;
}

graph::Dim3 read_extents(const Where& where, const char* key, const Json& j) {
  const Json& d = member(where, j, key);
  const auto axis = [&](const char* a) { return integer(where, key, member(where, d, a), 1, max_extent); };
  return {axis("x"), axis("y"), axis("z")};
}

/// Maps Mirage's guids to tensors of one level. A guid identifies one tensor of one shape.
template <class Entry>
class GuidTable {
 public:
  explicit GuidTable(std::vector<Entry>& tensors) : tensors_(tensors) {}

  /// Adds the tensor that `j` describes, a result of the operator `where`, and returns its index. Throws Error if
  /// another tensor has its guid.
  int make(const Where& where, const Json& j) {
    const MirageTensor t = read_tensor(where, j);
    if (!index_.emplace(t.guid, static_cast<int>(tensors_.size())).second)
      fail_at(where, "expected one producer for each guid, found a second one of {}", t.guid);
    tensors_.push_back({.dtype = t.dtype, .shape = t.shape});
    return static_cast<int>(tensors_.size()) - 1;
  }

  /// Returns the index of the tensor that `j` describes, an operand of the operator `where`. Throws Error if no
  /// tensor has its guid, or if that tensor has another shape or dtype.
  int use(const Where& where, const Json& j) const {
    const MirageTensor t = read_tensor(where, j);
    const auto it = index_.find(t.guid);
    if (it == index_.end()) fail_at(where, "expected an operand that an earlier operator makes, found guid {}", t.guid);
    const Entry& made = tensors_[it->second];
    if (made.shape != t.shape || made.dtype != t.dtype)
      fail_at(where, "expected guid {} to be the tensor {} {} that was made, found {} {}", t.guid,
              graph::name(made.dtype), graph::to_string(made.shape), graph::name(t.dtype), graph::to_string(t.shape));
    return it->second;
  }

 private:
  std::vector<Entry>& tensors_;
  std::map<std::uint64_t, int> index_;
};

/// The operator that a Mirage op_type names.
struct Recognised {
  OpKind kind;
  int dim = -1;  // the digit in the op_type
  bool to_dimx = false;
};

/// Returns the operator that an op_type names: tb_reduction_1_to_dimx_op is reduction with dim 1 and to_dimx (a
/// reduction to the extent that the block graph's reduction_dimx gives). `level` is the prefix "kn_" (kernel) or "tb_"
/// (block). Throws Error if the level has no such operator, or if Mirage's JSON lacks the operator's constants.
Recognised recognise(const Where& where, std::string_view type, std::string_view level) {
  std::string stem(type);
  const std::string_view level_name = level == "kn_" ? "kernel" : "block";
  const auto has = [&](const graph::OpInfo& row) {
    return level == "kn_" ? row.kernel || row.family == graph::OpFamily::boundary : row.block;
  };
  if (!stem.starts_with(level) || !stem.ends_with("_op") || stem.size() <= level.size() + 3)
    fail_at(where, "expected an operator of the {} level ({}..._op), found {}", level_name, level, type);
  stem = stem.substr(level.size(), stem.size() - level.size() - 3);
  Recognised r;
  // Newer files write forloop_accum and no_red for accum and nored; chunk is a split into equal parts.
  if (stem.starts_with("forloop_")) stem.erase(0, 8);
  if (const auto at = stem.find("no_red"); at != stem.npos) stem.erase(at + 2, 1);
  if (stem.starts_with("chunk_")) stem.replace(0, 5, "split");
  if (stem.ends_with("_to_dimx")) {
    r.to_dimx = true;
    stem.resize(stem.size() - 8);
  }
  if (const auto digit = stem.find_first_of("0123456789"); digit != stem.npos) {
    r.dim = stem[digit] - '0';
    stem[digit] = '#';
  }
  for (OpKind kind : graph::all_ops()) {
    const graph::OpInfo& row = graph::info(kind);
    if (row.mirage.empty() || row.mirage != stem) continue;
    if (r.to_dimx && kind != OpKind::reduction) break;
    if (!has(row)) fail_at(where, "expected an operator of the {} level, found {}", level_name, row.name);
    r.kind = kind;
    if (kind == OpKind::mul_scalar || kind == OpKind::clamp)
      fail_at(where,
              "expected an operator that the file gives whole, found {}, whose constant{} Mirage's JSON does "
              "not keep",
              row.name, kind == OpKind::clamp ? "s" : "");
    return r;
  }
  if (stem == "allreduce") fail_at(where, "expected a graph for one GPU, found {}", type);
  std::vector<std::string> known;
  for (OpKind kind : graph::all_ops()) {
    const graph::OpInfo& row = graph::info(kind);
    if (!row.mirage.empty() && has(row)) known.push_back(fmt::format("{}{}_op", level, row.mirage));
  }
  fail_at(where, "expected an operator that is known, found {}{}", type, known_names("operators", known, type));
}

/// Sets the attributes in `a` that follow from the op_type (`r`), from the block graph's reduction_dimx
/// (`dimx`, the extent that some reductions leave) and from the shapes of the results.
void read_attributes(const Recognised& r, graph::Attributes& a, std::int64_t dimx,
                     const std::vector<graph::Shape>& results) {
  a.dim = r.dim;
  if (r.to_dimx || r.kind == OpKind::accum_redtox_sum) a.to = dimx;
  if (r.kind == OpKind::split)
    for (const graph::Shape& part : results) a.sizes.push_back(r.dim < static_cast<int>(part.size()) ? part[r.dim] : 0);
}

/// Returns an op_type as messages show it: what describe() returns, without the quotes.
std::string printable(const std::string& type) {
  const std::string quoted = describe(type);
  return quoted.substr(1, quoted.size() - 2);
}

/// Reads one graph; the constructor does all the work.
class Importer {
 public:
  Importer(const Json& candidate, const std::string& name) : where_{name}, known_(g_.tensors) {
    g_.name = name;
    const Json& operators = list(where_, "a graph", candidate);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const std::string type = text(where_, "op_type", member(where_, operators[i], "op_type"));
      read(where_.at(static_cast<int>(i), printable(type)), type, operators[i]);
    }
    rename();
  }
  graph::KernelGraph take() { return std::move(g_); }

 private:
  void read(const Where& where, const std::string& type, const Json& j) {
    const Recognised r = recognise(where, type, "kn_");
    if (r.kind == OpKind::input) return read_input(where, j);
    if (r.kind == OpKind::output) return read_output(where, j);
    graph::KernelOp op{.kind = r.kind};
    for (const Json& t : list(where, "input_tensors", member(where, j, "input_tensors"))) {
      const int tensor = known_.use(where, t);
      // A custom operator lists a tensor once per tile that it loads; here it is one operand.
      if (r.kind == OpKind::custom && std::ranges::find(op.inputs, tensor) != op.inputs.end()) continue;
      op.inputs.push_back(tensor);
    }
    std::vector<graph::Shape> shapes;
    for (const Json& t : list(where, "output_tensors", member(where, j, "output_tensors"))) {
      op.outputs.push_back(known_.make(where, t));
      shapes.push_back(g_.tensors.back().shape);
    }
    read_attributes(r, op.attributes, 1, shapes);
    if (r.kind == OpKind::custom) op.block = read_block(where, op, member(where, j, "bgraph"));
    g_.ops.push_back(std::move(op));
  }

  /// Returns the one tensor in the list under `key`. Throws Error if the list has another number of tensors.
  const Json& only(const Where& where, const Json& j, const char* key) {
    const Json& tensors = list(where, key, member(where, j, key));
    if (tensors.size() != 1) fail_at(where, "expected {} to hold 1 tensor, found {}", key, tensors.size());
    return tensors[0];
  }

  graph::Strides read_strides(const Where& where, const char* key, const Json& j, int tensor) {
    graph::Strides strides = integers(where, key, member(where, j, key), 0, std::int64_t{1} << 40);
    const std::size_t rank = g_.tensors[tensor].shape.size();
    if (strides.size() != rank) fail_at(where, "expected {} to hold {} strides, found {}", key, rank, strides.size());
    return strides;
  }

  void read_input(const Where& where, const Json& j) {
    const int tensor = known_.make(where, only(where, j, "output_tensors"));
    g_.tensors[tensor].strides = read_strides(where, "input_strides", j, tensor);
    g_.inputs.push_back(tensor);
  }

  void read_output(const Where& where, const Json& j) {
    const int tensor = known_.use(where, only(where, j, "input_tensors"));
    const Json* strides = find(where, j, "output_strides");
    if (strides && !list(where, "output_strides", *strides).empty())
      g_.tensors[tensor].strides = read_strides(where, "output_strides", j, tensor);
    g_.outputs.push_back(tensor);
  }

  std::shared_ptr<const graph::BlockGraph> read_block(const Where& where, const graph::KernelOp& op, const Json& j) {
    auto block = std::make_shared<graph::BlockGraph>();
    block->grid = read_extents(where, "grid_dim", j);
    block->block = read_extents(where, "block_dim", j);
    block->loop = integer(where, "forloop_range", member(where, j, "forloop_range"), 1, max_extent);
    const Json* dimx = find(where, j, "reduction_dimx");
    const std::int64_t to = dimx ? integer(where, "reduction_dimx", *dimx, 0, max_extent) : 0;
    GuidTable<graph::BlockTensor> tiles(block->tensors);
    const Json& operators = list(where, "operators", member(where, j, "operators"));
    for (std::size_t i = 0; i < operators.size(); ++i) {
      const Json& entry = operators[i];
      const std::string type = text(where, "op_type", member(where, entry, "op_type"));
      read_block_op(where.inside(static_cast<int>(i), printable(type)), type, entry, op, to, *block, tiles);
    }
    return block;
  }

  void read_block_op(const Where& where, const std::string& type, const Json& j, const graph::KernelOp& kernel_op,
                     std::int64_t dimx, graph::BlockGraph& block, GuidTable<graph::BlockTensor>& tiles) {
    const Recognised r = recognise(where, type, "tb_");
    graph::BlockOp op{.kind = r.kind};
    for (const Json& t : list(where, "input_tensors", member(where, j, "input_tensors")))
      op.inputs.push_back(tiles.use(where, t));
    std::vector<graph::Shape> shapes;
    for (const Json& t : list(where, "output_tensors", member(where, j, "output_tensors"))) {
      op.outputs.push_back(tiles.make(where, t));
      shapes.push_back(block.tensors.back().shape);
      const Json* after = find(where, t, "after_accum");
      if (!after || !after->is_boolean()) fail_at(where, "expected after_accum to be true or false");
      block.tensors.back().after_loop = after->get<bool>();
    }
    if (graph::is_boundary(r.kind)) {
      const bool input = r.kind == OpKind::input;
      op.map = read_map(where, input ? "input_map" : "output_map", j);
      if (input)
        op.loop_dim =
            static_cast<int>(integer(where, "forloop_dim", member(where, j, "forloop_dim"), -1, max_rank - 1));
      const int tensor = known_.use(where, member(where, j, "dtensor"));
      const std::vector<int>& arguments = input ? kernel_op.inputs : kernel_op.outputs;
      const auto at = std::ranges::find(arguments, tensor);
      if (at == arguments.end())
        fail_at(where, "expected a dtensor among the {}put_tensors of the custom operator, found guid {}",
                input ? "in" : "out", read_guid(where, j["dtensor"]));
      op.kernel_tensor = static_cast<int>(at - arguments.begin());
    }
    read_attributes(r, op.attributes, dimx, shapes);
    block.ops.push_back(std::move(op));
  }

  /// Names inputs X0, X1, ...; outputs Y0, Y1, ...; other tensors t0, t1, ...; and the tiles that a block
  /// loads from X0: X0_tile, X0_tile1, ...
  void rename() {
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) g_.tensors[g_.inputs[i]].name = fmt::format("X{}", i);
    for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
      std::string& name = g_.tensors[g_.outputs[i]].name;
      if (name.empty()) name = fmt::format("Y{}", i);
    }
    for (std::size_t i = 0; i < g_.tensors.size(); ++i)
      if (g_.tensors[i].name.empty()) g_.tensors[i].name = fmt::format("t{}", i);
    for (graph::KernelOp& op : g_.ops) {
      if (!op.block) continue;
      auto block = std::make_shared<graph::BlockGraph>(*op.block);
      std::map<int, int> loads;
      for (const graph::BlockOp& b : block->ops) {
        if (b.kind != OpKind::input || b.outputs.empty()) continue;
        const int n = loads[b.kernel_tensor]++;
        block->tensors[b.outputs[0]].name =
            fmt::format("{}_tile{}", g_.tensors[op.inputs[b.kernel_tensor]].name, n ? std::to_string(n) : "");
      }
      op.block = std::move(block);
    }
  }

  Where where_;
  graph::KernelGraph g_;
  GuidTable<graph::KernelTensor> known_;
};

}  // namespace

bool is_mirage_candidate(const Json& j) {
  return j.is_array() && !j.empty() && j[0].is_object() && j[0].contains("op_type");
}

graph::KernelGraph from_mirage(const Json& candidate, const std::string& name) {
  graph::KernelGraph stored = Importer(candidate, name).take();
  // infer() names unnamed tensors, and rejects shapes in the file that differ from the inferred ones.
  // validate() then compares the file's dtypes and after_accum with the inferred ones.
  graph::KernelGraph inferred = graph::infer(stored);
  for (std::size_t i = 0; i < stored.ops.size(); ++i) {
    if (!stored.ops[i].block) continue;
    auto block = std::make_shared<graph::BlockGraph>(*stored.ops[i].block);
    for (std::size_t t = 0; t < block->tensors.size(); ++t)
      block->tensors[t].name = inferred.ops[i].block->tensors[t].name;
    stored.ops[i].block = std::move(block);
  }
  graph::validate(stored);
  return stored;
}

}  // namespace zellige::json
