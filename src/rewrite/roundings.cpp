#include "rewrite/roundings.hpp"

#include <map>
#include <set>

#include "graph/infer.hpp"
#include "graph/view.hpp"
#include "retile/block_writer.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::rewrite {
namespace {

bool is_rounding(OpKind kind, const Attributes& a) { return kind == OpKind::cast && graph::is_narrow(a.dtype); }
/// Returns whether an operator of this kind rounds its operand number `operand` before use, as a matmul does.
bool is_factor(OpKind kind, std::size_t operand) { return kind == OpKind::matmul && operand < 2; }

/// Checks one fused graph.
class Roundings {
 public:
  Roundings(const KernelGraph& given, const KernelGraph& unfused, KernelGraph& fused) : fused_(fused) {
    for (const KernelTensor& t : given.tensors) declared_[t.name] = &t;
    for (std::size_t t = 0; t < unfused.tensors.size(); ++t)
      if (read_rounded(unfused, static_cast<int>(t), [&](int seen) { return is_output(unfused, seen); }))
        declared_[unfused.tensors[t].name] = &unfused.tensors[t];
    for (const KernelOp& op : unfused.ops) {
      const KernelTensor& made = unfused.tensors[op.outputs[0]];
      if (is_rounding(op.kind, op.attributes)) declared_[made.name] = &made, casts_ = true;
      if (op.block) kept_.insert(made.name);
    }
    for (const KernelTensor& t : unfused.tensors) named_.insert(t.name);
  }

  /// Replaces casts in the fused graph that the original graph lacks by casts to float32. Then returns the
  /// name of a tensor that only the fused graph rounds, or nullopt if there is none.
  std::optional<std::string> run() {
    for (std::size_t i = 0; i < fused_.ops.size(); ++i)
      if (const auto name = inside(static_cast<int>(i))) return name;
    fused_ = graph::infer(std::move(fused_));
    const auto declared = [&](int t) { return is_output(fused_, t) || is_declared(fused_.tensors[t]); };
    for (const KernelOp& op : fused_.ops) {
      if (graph::is_view(op.kind)) continue;
      for (int t : op.outputs)
        if (!declared(t) && !read_rounded(fused_, t, declared)) return fused_.tensors[t].name;
    }
    return std::nullopt;
  }

 private:
  /// Returns whether all readers of a tensor round it anyway, directly or through views. declared(v) says
  /// whether tensor v, the result of a view, may be stored rounded.
  template <class Declared>
  static bool read_rounded(const KernelGraph& g, int tensor, Declared declared) {
    for (const KernelOp& op : g.ops)
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (op.inputs[i] != tensor || is_factor(op.kind, i)) continue;
        if (!graph::is_view(op.kind)) return false;
        if (!declared(op.outputs[0]) && !read_rounded(g, op.outputs[0], declared)) return false;
      }
    return true;
  }

  /// Returns whether the tensor may be stored in its dtype: the dtype does not round (float32 or integers),
  /// or the tensors that the original graph rounds (declared_) include one of this name, shape and dtype.
  bool is_declared(const KernelTensor& made) const {
    if (!graph::is_narrow(made.dtype)) return true;
    const auto known = declared_.find(made.name);
    return known != declared_.end() && known->second->shape == made.shape && known->second->dtype == made.dtype;
  }

  /// In the fused kernel with operator index `at`, replaces each cast that the original graph does not have
  /// by a cast to float32, which changes nothing. Returns the name of a cast for which it cannot be decided
  /// whether the original graph has it, or nullopt if there is none.
  std::optional<std::string> inside(int at) {
    const KernelOp& op = fused_.ops[at];
    if (!op.block || kept_.contains(fused_.tensors[op.outputs[0]].name)) return std::nullopt;
    auto block = std::make_shared<BlockGraph>(*op.block);
    bool any = false;
    for (BlockOp& cast : block->ops) {
      if (!is_rounding(cast.kind, cast.attributes) || read_rounded(*block, cast)) continue;
      const std::string& name = block->tensors[cast.outputs[0]].name;
      const auto known = declared_.find(name);
      if (known != declared_.end() && known->second->dtype == cast.attributes.dtype) continue;
      // If two tiles are of one tensor, only one of them has its name.
      if (casts_ && !named_.contains(name)) return fmt::format("{} of {}", name, fused_.tensors[op.outputs[0]].name);
      cast.attributes.dtype = DType::f32;
      any = true;
    }
    if (!any) return std::nullopt;
    fused_.ops[at].block = std::move(block);
    retile::widen(fused_, at);
    return std::nullopt;
  }

  /// Returns whether the cast `cast` of a block graph adds no rounding, because its operand is rounded
  /// anyway: the result or the operand of the cast is stored, or only matmuls read the result.
  static bool read_rounded(const BlockGraph& block, const BlockOp& cast) {
    bool products = true;
    for (const BlockOp& reader : block.ops)
      for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
        const bool reads = reader.inputs[i] == cast.outputs[0];
        if (reader.kind == OpKind::output && (reads || reader.inputs[i] == cast.inputs[0])) return true;
        if (reads) products = products && is_factor(reader.kind, i);
      }
    return products;
  }

  KernelGraph& fused_;
  std::map<std::string, const KernelTensor*> declared_;  // by name: tensors that may be rounded
  std::set<std::string> named_;                          // names of all tensors of the decomposed graph
  std::set<std::string> kept_;  // names of results of custom operators that were not decomposed
  bool casts_ = false;          // the graph has a cast that rounds
};

}  // namespace

std::optional<std::string> added_rounding(const KernelGraph& given, const KernelGraph& unfused, KernelGraph& fused) {
  return Roundings(given, unfused, fused).run();
}

}  // namespace zellige::rewrite
