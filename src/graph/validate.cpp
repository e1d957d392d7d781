
#include <algorithm>
#include <set>

#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/sized_graph.hpp"
#include "strings/identifier.hpp"

namespace zellige::graph {
namespace {

constexpr std::int64_t max_stride = std::int64_t{1} << 40;

/// Throws Error unless each byte of an input that has several elements in a byte has neighbours of its contiguous dimension.
void check_bytes(const Where& where, const KernelTensor& t) {
  const std::int64_t per = 8 / std::max(1, std::min(8, bits(t.dtype)));
  if (per == 1) return;
  bool contiguous = false;
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    contiguous = contiguous || (t.strides[d] == 1 && t.shape[d] % per == 0);
    if (t.shape[d] > 1 && (t.strides[d] == 1 ? t.shape[d] : t.strides[d]) % per != 0)
      fail_at(where, "expected {} elements of {}, {}, in each byte, found shape {} and strides {}", per, t.name,
              name(t.dtype), to_string(t.shape), to_string(t.strides));
  }
  if (!contiguous)
    fail_at(where,
            "expected a contiguous dimension of {}, {}, with {} elements in a byte, found shape {} and strides {}",
            t.name, name(t.dtype), per, to_string(t.shape), to_string(t.strides));
}

/// Throws Error unless the strides give every element an address of its own. An extent of 1 may have any stride.
void check_strides(const Where& where, const KernelTensor& t) {
  if (t.strides.size() != t.shape.size())
    fail_at(where, "expected tensor {} to have {} strides, one a dimension of {}, found {}", t.name, t.shape.size(),
            to_string(t.shape), t.strides.size());
  std::int64_t reach = 1;
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] == 1) continue;
    if (t.strides[d] < 0 || t.strides[d] > max_stride)
      fail_at(where, "expected the strides of tensor {} to be 0 to {}, found {}", t.name, max_stride,
              to_string(t.strides));
    if (t.strides[d] > 0 && t.shape[d] - 1 > (max_stride - reach) / t.strides[d])
      fail_at(where, "expected tensor {} to span at most {} elements, found strides {} for {}", t.name, max_stride,
              to_string(t.strides), to_string(t.shape));
    reach += (t.shape[d] - 1) * t.strides[d];
  }
  if (const auto shared = shared_address(t.shape, t.strides)) {
    std::int64_t address = 0;
    for (std::size_t d = 0; d < t.shape.size(); ++d) address += shared->first[d] * t.strides[d];
    fail_at(where,
            "expected strides that give each element of tensor {} an address of its own, found {} for {}: "
            "elements {} and {} both lie at {}",
            t.name, to_string(t.strides), to_string(t.shape), to_string(shared->first), to_string(shared->second),
            address);
  }
}

void check_name(const Where& where, std::string_view what, const std::string& name) {
  if (!strings::is_identifier(name))
    fail_at(where,
            "expected {} to have a name of 1 to 200 printable ASCII characters without blanks, quotes and "
            "backslashes, found {} characters",
            what, name.size());
}

/// Throws Error unless the tensor `found` has a valid name and the shape and dtype of `inferred`.
template <class Tensor>
void check_tensor(const Where& where, const Tensor& found, const Tensor& inferred) {
  check_name(where, "each tensor", found.name);
  if (found.shape != inferred.shape)
    fail_at(where, "expected tensor {} to have the shape {}, found {}", found.name, to_string(inferred.shape),
            found.shape.empty() ? "none: infer() fills it in" : to_string(found.shape));
  if (found.dtype != inferred.dtype)
    fail_at(where, "expected tensor {} to be {}, found {}", found.name, name(inferred.dtype), name(found.dtype));
}

/// Throws Error unless the tensors of the block graph `found` are valid and equal to those of `inferred`.
void check_block(const Where& where, const BlockGraph& found, const BlockGraph& inferred) {
  for (std::size_t i = 0; i < found.tensors.size(); ++i) {
    const BlockTensor &f = found.tensors[i], &e = inferred.tensors[i];
    check_tensor(where, f, e);
    if (f.after_loop != e.after_loop)
      fail_at(where, "expected block tensor {} to live {} the loop, found {}", f.name,
              e.after_loop ? "after" : "inside", f.after_loop ? "after" : "inside");
  }
}

}  // namespace

void validate(const KernelGraph& g) {
  const Where top{g.name};
  check_name(top, "the graph", g.name);
  const KernelGraph inferred = infer(g);
  if (g.ops.empty()) fail_at(top, "expected at least one operator, found none");
  if (g.outputs.empty()) fail_at(top, "expected at least one output, found none");
  for (std::size_t i = 0; i < g.tensors.size(); ++i) check_tensor(top, g.tensors[i], inferred.tensors[i]);
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (g.ops[i].kind == OpKind::custom)
      check_block(top.at(static_cast<int>(i), "custom"), *g.ops[i].block, *inferred.ops[i].block);
  for (int t : g.inputs)
    if (g.tensors[t].strides.empty())
      fail_at(top, "expected the strides of input {}, found none: only what the graph computes may leave them open",
              g.tensors[t].name);
  for (int t : g.inputs) check_bytes(top, g.tensors[t]);
  if (g.sizes) check_symbolic_strides(g);
  for (const KernelTensor& t : g.tensors)
    if (!t.strides.empty()) check_strides(top, t);
  in_place_order(g);
  std::set<int> seen(g.inputs.begin(), g.inputs.end());
  for (int t : g.outputs) {
    if (t < 0 || t >= static_cast<int>(g.tensors.size()))
      fail_at(top, "expected outputs among the graph's {} tensors, found index {}", g.tensors.size(), t);
    if (is_weight_only(g.tensors[t].dtype))
      fail_at(top, "expected outputs of a dtype that kernels store, found {} of {}: cast it", g.tensors[t].name,
              name(g.tensors[t].dtype));
    if (!seen.insert(t).second)
      fail_at(top, "expected outputs that operators make, each once, found {} twice or as an input", g.tensors[t].name);
  }
}

}  // namespace zellige::graph
