#include <algorithm>
#include <set>

#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "selection/layouts.hpp"
#include "verify/boxes.hpp"
#include "verify/proofs.hpp"

namespace zellige::verify {
namespace {

constexpr std::int64_t max_reach = std::int64_t{1} << 40;  // elements, as of a graph's tensors

/// Returns whether each stride exceeds the addresses that the later dimensions reach, as most tensors' do.
bool nests(const KernelTensor& t) {
  std::int64_t reach = 1;
  for (std::size_t d = t.shape.size(); d-- > 0; reach += (t.shape[d] - 1) * t.strides[d])
    if (t.shape[d] > 1 && t.strides[d] < reach) return false;
  return true;
}

/// Returns whether the tensor is an input whose memory no tensor takes.
bool is_only_read(const TilePrograms& p, int tensor) {
  return std::ranges::count(p.inputs, tensor) > 0 &&
         std::ranges::none_of(p.tensors, [&](const KernelTensor& t) { return t.memory == tensor; });
}

/// Throws Rejected unless each element of a tensor that is stored has an address of its own, and none lies too far.
void check_strides(const TilePrograms& p, int tensor) {
  const KernelTensor& t = p.tensors[tensor];
  std::int64_t reach = 1;
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] == 1) continue;
    if (t.strides[d] < 0 || t.strides[d] > max_reach)
      reject("tensor {}: its stride along dimension {} is {}; strides are 0 to {}", t.name, d, t.strides[d], max_reach);
    if (t.strides[d] > 0 && t.shape[d] - 1 > (max_reach - reach) / t.strides[d])
      reject("tensor {}: {} elements along dimension {} that are {} apart reach beyond {} elements", t.name, t.shape[d],
             d, t.strides[d], max_reach);
    reach += (t.shape[d] - 1) * t.strides[d];
  }
  // A view may show an element at several coordinates, and so may an input that is only read: of a part of a graph it may
  // be the graph's view. Tensors that kernels store are checked there, too (WrittenElements::store).
  if (p.views.contains(tensor) || is_only_read(p, tensor)) return;
  if (nests(t)) return;
  if (const auto shared = graph::shared_address(t.shape, t.strides))
    reject("tensor {}: its elements {} and {} have one address, by the strides {} of {}", t.name,
           to_string(shared->first), to_string(shared->second), to_string(t.strides), to_string(t.shape));
}

/// Makes a view of the bytes of weights, of which several are in a byte, the view of these weights.
void in_elements(KernelTensor& t, tile::TensorView& view, graph::DType dtype) {
  const std::int64_t per = 8 / graph::bits(dtype);
  const int along = selection::innermost(view.shape, t.strides);
  t.dtype = dtype;
  for (int d = 0; d < static_cast<int>(t.shape.size()); ++d) {
    if (d != along && t.shape[d] > 1) t.strides[d] *= per;
    if (d == along) t.shape[d] *= per, view.shape[d] *= per, view.starts[d] *= per;
  }
}

/// Returns the source of windows as a tensor in memory, of which they show elements from `starts` on.
KernelTensor source_of(const KernelTensor& t, const tile::Windows& w) {
  KernelTensor source{t.dtype, w.extents, w.strides, t.name};
  for (std::size_t d = 0; d < w.extents.size(); ++d) source.shape[d] += w.starts[d];
  return source;
}

/// Returns the elements of that tensor which windows show.
CoordinateBox shown_by(const tile::Windows& w) {
  CoordinateBox box = whole(w.extents);
  for (std::size_t d = 0; d < w.extents.size(); ++d) box.low[d] += w.starts[d], box.high[d] += w.starts[d];
  return box;
}

/// Throws Rejected unless the windows show elements of the tensor's base, and their digits are all of its coordinates. Kernels
/// read an element only if its coordinates lie in the source, so that no digit leads out of the base.
void check_windows(const TilePrograms& p, int tensor, const tile::TensorView& view) {
  const KernelTensor &t = p.tensors[tensor], &base = p.tensors[view.base];
  const tile::Windows& w = *view.windows;
  const std::size_t rank = w.extents.size();
  if (w.strides.size() != rank || w.starts.size() != rank || w.origin.size() != rank)
    reject("tensor {}: its windows have a source of {} extents, {} strides, {} starts and {} origins", t.name, rank,
           w.strides.size(), w.starts.size(), w.origin.size());
  for (std::size_t d = 0; d < rank; ++d)
    if (w.extents[d] < 1 || w.strides[d] < 0 || w.strides[d] > max_reach || w.starts[d] < 0)
      reject("tensor {}: its windows have a source of extent {}, stride {} and start {} along dimension {}", t.name,
             w.extents[d], w.strides[d], w.starts[d], d);
  for (const auto& dim : w.digits)
    for (const tile::WindowDigit& d : dim)
      if (d.extent < 1 || d.step < 0 || d.dim < 0 || d.dim >= static_cast<int>(rank))
        reject("tensor {}: a digit of its windows has extent {} and step {} along dimension {} of {}", t.name, d.extent,
               d.step, d.dim, rank);
  if (w.shape() != t.shape || w.shape() != view.shape)
    reject("tensor {} is {}, and the digits of its windows are {}", t.name, to_string(t.shape), to_string(w.shape()));
  if (w.units() != t.strides)
    reject("tensor {} has strides {}, and the strides of its windows are multiples of {}", t.name, to_string(t.strides),
           to_string(w.units()));
  const KernelTensor source = source_of(t, w);
  if (!lies_in(shown_by(w), source, base))
    reject("tensor {} shows windows of {}: its elements {}:{} are no part of {}:{}", t.name, base.name,
           to_string(source.shape), to_string(w.strides), to_string(base.shape), to_string(base.strides));
}

/// Throws Rejected unless the view shows elements of its base, or bytes of them.
void check_view(const TilePrograms& p, int tensor, tile::TensorView view) {
  KernelTensor t = p.tensors[tensor];
  const KernelTensor& base = p.tensors[view.base];
  if (graph::is_weight_only(base.dtype) && t.dtype == graph::DType::int8) in_elements(t, view, base.dtype);
  if (view.base == tensor || p.views.contains(view.base))
    reject("tensor {} is a view of {}, which has no memory of its own", t.name, base.name);
  if (t.dtype != base.dtype)
    reject("tensor {} is {} and a view of {}, which is {}", t.name, graph::name(t.dtype), base.name,
           graph::name(base.dtype));
  if (view.windows) return check_windows(p, tensor, view);
  CoordinateBox shown = whole(t.shape);
  for (std::size_t d = 0; d < t.shape.size(); ++d) {
    // Its users may see each element several times in a row (lower/repeats.hpp).
    const std::int64_t own = t.shape[d] - view.starts[d];
    if (view.starts[d] < 0 || own < 1 || view.shape[d] < own || view.shape[d] % own != 0)
      reject(
          "tensor {}: {} elements of its view from {} on are no multiple of the {} there are along dimension {}, which "
          "has {}",
          t.name, view.shape[d], view.starts[d], std::max<std::int64_t>(own, 0), d, t.shape[d]);
    shown.low[d] = view.starts[d];
    if (t.strides[d] == 0) shown.high[d] = shown.low[d] + 1;
  }
  if (!lies_in(shown, t, base))
    reject("tensor {} is a view of {}: its elements {}:{} are no part of {}:{}", t.name, base.name, to_string(t.shape),
           to_string(t.strides), to_string(base.shape), to_string(base.strides));
}

/// Follows which elements of the tensors in device memory have been written, kernel by kernel.
class WrittenElements {
 public:
  explicit WrittenElements(const TilePrograms& p)
      : p_(p), stored_(p.tensors.size()), elements_(p.tensors.size(), 0), complete_(p.tensors.size(), false) {
    for (const int t : p.inputs) complete_[t] = true;
    for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t)
      if (p.tensors[t].memory >= 0) taken_.insert(p.tensors[t].memory);
  }

  /// Throws Rejected unless what the kernel loads is written.
  void load(const TileProgram& k, const Node& n) const {
    const int memory = p_.memory_of(n.tensor);
    if (n.unfolded != (p_.windows(n.tensor) != nullptr))
      reject("{}: load {} is {}of windows, and {} is {}", k.name, n.name, n.unfolded ? "" : "not ", n.name,
             n.unfolded ? "none" : "one");
    if (complete_[memory]) return;
    const CoordinateBox box = box_of(n);
    if (!n.unfolded && covered(box, stored_in(memory, n.tensor))) return;
    if (n.tensor != memory)
      if (const auto there = in_base(box, tensor_of(n), tensor(memory)))
        if (covered(*there, stored_in(memory, memory))) return;
    reject("{}: load {} reads elements of {} that no kernel before it stores", k.name, n.name, tensor(memory).name);
  }

  /// Throws Rejected unless the kernel may store there: elements that no store has written yet or, once all of the memory is
  /// written, such as no other store of the kernel changes. Compares all pairs of stores to one tensor.
  void store(const TileProgram& k, const Node& n) {
    const int memory = p_.memory_of(n.tensor);
    const KernelTensor& of = tensor(memory);
    if (std::ranges::count(p_.inputs, memory) > 0 && !taken_.contains(memory))
      reject("{}: store {} changes input {}, whose memory no tensor takes", k.name, n.name, of.name);
    KernelTensor seen = tensor(n.tensor);  // of a view, the elements from its start on
    seen.shape = p_.shape(n.tensor);
    if (is_numbered(n) && graph::size(p_.shape(k.nodes[tile::number_of(n)].tensor)) == 1)
      seen.shape[n.dim] = n.to;  // of a part that begins where the one index says
    if (!nests(seen) && graph::shared_address(seen.shape, seen.strides))
      reject("{}: store {} writes several elements to one address, by the strides {} of {}", k.name, n.name,
             to_string(seen.strides), seen.name);
    if (is_numbered(n)) {
      if (complete_[memory]) return;
      reject("{}: store {} changes a part of {} by indices, and no kernel before it has stored all of it", k.name,
             n.name, of.name);
    }
    CoordinateBox box = box_of(n);
    std::vector<Stored>& all = stored_[memory];
    if (complete_[memory] && !all.empty() && all.back().kernel != &k) all.clear();
    for (const Stored& other : all)
      if (!disjoint(box, tensor(n.tensor), other.box, tensor(other.store->tensor), of))
        reject("{}: store {} {} elements of {} that store {} of {} writes, too; each is written once", k.name, n.name,
               n.tensor == other.store->tensor ? "writes" : "by its strides may write", of.name, other.store->name,
               other.kernel->name);
    // Disjoint boxes are all of the memory if they have its number of elements.
    elements_[memory] += size(box);
    complete_[memory] = complete_[memory] || elements_[memory] == graph::size(of.shape);
    all.push_back({&k, &n, std::move(box)});
  }

  /// Throws Rejected if the kernel loads what other blocks of it may have overwritten already.
  void check_disjoint(const TileProgram& k, const Node& load, const Node& store) const {
    const int memory = p_.memory_of(load.tensor);
    if (memory != p_.memory_of(store.tensor)) return;
    if (disjoint(box_of(load), tensor_of(load), box_of(store), tensor(store.tensor), tensor(memory))) return;
    reject("{}: load {} reads memory of {} that store {} changes in the same kernel", k.name, load.name,
           tensor(memory).name, store.name);
  }

  /// Throws Rejected unless all of the output is written.
  void output(int t) const {
    const int memory = p_.memory_of(t);
    if (!complete_[memory])
      reject("output {}: {}", tensor(t).name,
             stored_[memory].empty() ? "no kernel stores it" : "the kernels store a part of it alone");
  }

 private:
  /// What a store writes: a box of its tensor.
  struct Stored {
    const TileProgram* kernel;
    const Node* store;
    CoordinateBox box;
  };

  const KernelTensor& tensor(int t) const { return p_.tensors[t]; }
  /// Returns the tensor in whose coordinates box_of() is: of windows their source.
  KernelTensor tensor_of(const Node& n) const {
    return n.unfolded ? source_of(tensor(n.tensor), *p_.windows(n.tensor)) : tensor(n.tensor);
  }

  /// Returns whether numbers that are known at run time say where a load or store accesses its tensor.
  bool is_numbered(const Node& n) const {
    const auto view = p_.views.find(n.tensor);
    return tile::number_of(n) >= 0 || (view != p_.views.end() && view->second.number >= 0);
  }

  /// Returns the elements of its tensor that a load or store accesses; by indices it may be all along a dimension.
  CoordinateBox box_of(const Node& n) const {
    if (n.unfolded) return shown_by(*p_.windows(n.tensor));
    CoordinateBox box = whole(tensor(n.tensor).shape);
    for (int d = 0; d < n.view.rank(); ++d) {
      if (tile::number_of(n) >= 0 && d == n.dim) continue;
      box.low[d] = std::max<std::int64_t>(n.view.origin(d), 0);
      box.high[d] = std::min(n.view.end(d), box.high[d]);
    }
    return box;
  }

  /// Returns, in the coordinates of tensor `in`, what has been stored to the memory, as far as it is a box there.
  std::vector<CoordinateBox> stored_in(int memory, int in) const {
    std::vector<CoordinateBox> all;
    for (const Stored& s : stored_[memory])
      if (s.store->tensor == in)
        all.push_back(s.box);
      else if (auto there = in_base(s.box, tensor(s.store->tensor), tensor(in)))
        all.push_back(std::move(*there));
    return all;
  }

  const TilePrograms& p_;
  std::vector<std::vector<Stored>>
      stored_;                          // by tensor that has memory; once all is written, what the last kernel changes
  std::vector<std::int64_t> elements_;  // by tensor that has memory: how many have been written
  std::vector<bool> complete_;          // by tensor that has memory
  std::set<int> taken_;                 // inputs whose memory a tensor takes
};

/// Throws Rejected unless a tensor that takes the memory of an input is a view of it with a value of its own.
void check_memory(const TilePrograms& p, int tensor) {
  const KernelTensor& t = p.tensors[tensor];
  if (t.constant && std::ranges::count(p.inputs, p.memory_of(tensor)) == 0)
    reject("tensor {} is constant and no input; kernels write it", t.name);
  if (t.memory < 0) return;
  const std::string& of = p.tensors[t.memory].name;
  if (std::ranges::count(p.inputs, t.memory) == 0)
    reject("tensor {} takes the memory of {}, which is no input", t.name, of);
  if (p.tensors[t.memory].constant) reject("tensor {} takes the memory of {}, which is constant", t.name, of);
  const auto view = p.views.find(tensor);
  if (view == p.views.end() || view->second.base != t.memory || view->second.value != tensor)
    reject("tensor {} takes the memory of {}: expected a view of {} with the value of {}, found none", t.name, of, of,
           t.name);
}

}  // namespace

void verify_tensors(const TilePrograms& p) {
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t) check_strides(p, t), check_memory(p, t);
  for (const auto& [tensor, view] : p.views) check_view(p, tensor, view);
  for (const int t : p.outputs)
    if (std::ranges::count(p.outputs, t) > 1) reject("tensor {} is an output twice", p.tensors[t].name);
  for (const int t : p.inputs)
    if (std::ranges::count(p.inputs, t) > 1) reject("tensor {} is an input twice", p.tensors[t].name);
  WrittenElements written(p);
  for (const TileProgram& k : p.kernels) {
    const std::vector<bool> needed = k.needed();
    for (std::size_t i = 0; i < k.nodes.size(); ++i)
      if (k.nodes[i].kind == NodeKind::load && needed[i]) written.load(k, k.nodes[i]);
    for (const Node& n : k.nodes)
      if (n.kind == NodeKind::store) written.store(k, n);
    for (std::size_t i = 0; i < k.nodes.size(); ++i)
      for (const Node& store : k.nodes)
        if (k.nodes[i].kind == NodeKind::load && needed[i] && store.kind == NodeKind::store)
          written.check_disjoint(k, k.nodes[i], store);
  }
  for (const int t : p.outputs) written.output(t);
}

}  // namespace zellige::verify
