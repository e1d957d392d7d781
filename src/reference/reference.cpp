#include "reference/reference.hpp"

#include <algorithm>

#include "graph/dtype.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"
#include "graph/view.hpp"
#include "graph/where.hpp"
#include "reference/block_reference.hpp"
#include "reference/evaluate.hpp"
#include "reference/masked.hpp"
#include "reference/noise.hpp"
#include "reference/parallel.hpp"

namespace zellige::reference {
namespace {

constexpr std::int64_t chunk = 1 << 16;  // elements per parallel task

/// Rounds a kernel-level tensor `a` to its dtype (if `round`), and updates its error bounds `error`, if not null, to
/// those after rounding. With `noise`, rounds at random within the error bounds. `mask`: which non-finite values a mask
/// may have produced. Returns the tensor's magnitude: the largest finite absolute value, and whether all values are
/// finite, except those that `mask` allows. Returns 0 for integers, whose magnitude has no limit.
Magnitude settle(graph::DType dtype, Array& a, Array* error, Noise* noise, bool round, Mask mask, int threads) {
  if (noise) noise->store(dtype, a.values, error->values);
  const std::int64_t count = std::ssize(a.values), chunks = (count + chunk - 1) / chunk;
  std::vector<Magnitude> parts(chunks);
  parallel_for(chunks, threads, [&](std::int64_t c, int) {
    const auto part = [&](Array& of) {
      return std::span(of.values).subspan(c * chunk, std::min(chunk, count - c * chunk));
    };
    const std::span<double> values = part(a);
    if (round && error) storage_error(dtype, values, part(*error));
    if (round) graph::round_to(dtype, values.data(), std::ssize(values));
    if (!graph::is_integer(dtype)) parts[c] = magnitude(values, mask);
  });
  Magnitude m;
  for (const Magnitude& part : parts) m = join(m, part);
  return m;
}

/// A part of an operator: its operands, and the offsets of operands and results in the operator's tensors.
struct OperatorPart {
  std::deque<graph::Shape> shapes;
  std::vector<OperandValues> in;
  std::vector<std::int64_t> from;  // per operand
  std::vector<const graph::Shape*> out;
  std::vector<std::int64_t> to;  // per result
};

/// Divides an operator along its first dimension into parts that can be computed independently, and calls body(part) for
/// each part, on `threads` threads. That is possible if the operator is elementwise or works along other dimensions; else
/// there is one part.
template <class Body>
void each_part(const graph::KernelOp& op, const std::vector<const Array*>& in, const std::vector<Array*>& out,
               int threads, const Body& body) {
  const graph::Shape &x = in[0]->shape, &y = out[0]->shape;
  const bool elementwise = graph::is_elementwise(op.kind),
             along = graph::is_composed(op.kind) || op.kind == graph::OpKind::reduction;
  const bool independent = elementwise || (along && graph::composed_dims(op.kind, op.attributes, x).back() > 0);
  const std::int64_t extent = independent ? y[0] : 1;
  const std::int64_t step =
      std::clamp<std::int64_t>(chunk * extent / std::max(graph::size(x), graph::size(y)), 1, extent);
  const std::int64_t count = (extent + step - 1) / step;
  parallel_for(count, threads, [&](std::int64_t p, int) {
    OperatorPart part;
    // Adds the part of a tensor along its first dimension, if that is divided, and returns the part's offset.
    const auto of = [&](const graph::Shape& shape, std::size_t rank) {
      const bool cut = count > 1 && shape.size() == rank && shape[0] == extent;
      graph::Shape& own = part.shapes.emplace_back(shape);
      if (cut) own[0] = std::min(step, extent - p * step);
      return cut ? p * step * (graph::size(shape) / extent) : 0;
    };
    for (const Array* a : in) {
      part.from.push_back(of(a->shape, elementwise ? y.size() : x.size()));
      part.in.push_back({part.shapes.back(), a->values.data() + part.from.back()});
    }
    for (const Array* a : out) {
      part.to.push_back(of(a->shape, a->shape.size()));
      part.out.push_back(&part.shapes.back());
    }
    body(part);
  });
}

/// Computes the errors `to` of an operator's results from the errors `from` of its operands, in parallel over
/// the operator's independent parts.
void propagate_errors(const graph::KernelOp& op, graph::DType dtype, const std::vector<const Array*>& in,
                      const std::vector<Array*>& out, const std::vector<const Array*>& from,
                      const std::vector<Array*>& to, int threads) {
  each_part(op, in, out, threads, [&](const OperatorPart& part) {
    std::vector<Uncertain> uncertain;
    std::vector<OperandValues> results;
    std::vector<double*> errors;
    for (std::size_t i = 0; i < in.size(); ++i)
      uncertain.push_back({part.in[i], from[i]->values.data() + part.from[i]});
    for (std::size_t o = 0; o < out.size(); ++o) {
      results.push_back({*part.out[o], out[o]->values.data() + part.to[o]});
      errors.push_back(to[o]->values.data() + part.to[o]);
    }
    propagate(op.kind, op.attributes, dtype, uncertain, results, errors, 1, threads);
  });
}

/// Returns the error bounds that an operator itself adds to its results, as if its operands were exact.
std::vector<Array> own_errors(const graph::KernelOp& op, graph::DType dtype, const std::vector<const Array*>& in,
                              const std::vector<Array*>& out, int threads) {
  std::vector<Array> none, own;
  std::vector<const Array*> from;
  std::vector<Array*> to;
  for (const Array* a : in) none.push_back(make_array(a->shape));
  for (const Array* a : out) own.push_back(make_array(a->shape));
  for (const Array& a : none) from.push_back(&a);
  for (Array& a : own) to.push_back(&a);
  propagate_errors(op, dtype, in, out, from, to, threads);
  return own;
}

/// Throws Error unless `inputs` has one array of the right shape per graph input.
void check_inputs(const graph::KernelGraph& g, const std::vector<Array>& inputs) {
  if (inputs.size() != g.inputs.size())
    graph::fail_at({g.name}, "expected {} input arrays, found {}", g.inputs.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::KernelTensor& t = g.tensors[g.inputs[i]];
    if (inputs[i].shape != t.shape || static_cast<std::int64_t>(inputs[i].values.size()) != graph::size(t.shape))
      graph::fail_at({g.name}, "expected an array of shape {} for input {}, found {} with {} values",
                     graph::to_string(t.shape), t.name, graph::to_string(inputs[i].shape), inputs[i].values.size());
  }
}

/// Adds to the error of each element of x the largest change that rounding to the dtype makes to numbers of its
/// magnitude, for a rounding of the graph that a kernel may omit. This may exceed the change of the element itself:
/// a kernel may instead round the element times a factor of its row, which changes by another amount.
void add_rounding(graph::DType dtype, const Array& x, Array& error) {
  const graph::Format f = graph::format(dtype);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    if (std::isfinite(x.values[i])) error.values[i] += max_rounding(f, x.values[i]);
}

/// Returns whether rounding to the dtype changes no element.
bool representable(graph::DType dtype, const Array& a) {
  const graph::Format f = graph::format(dtype);
  bool same = true;
  if (f.integer_bits || f.lowest > 0)
    for (double v : a.values) same &= graph::round_to(f, v) == v || (v != v && !f.integer_bits);
  else
    for (double v : a.values) same &= graph::round_to_float(f, v) == v || v != v;
  return same;
}

/// Computes the results of an operator of the kernel level that is not custom, from operands of dtype `dtype`, in
/// parallel over its independent parts. `round`: see ReferenceOptions.
void compute(const graph::KernelOp& op, graph::DType dtype, const std::vector<const Array*>& in,
             const std::vector<Array*>& out, bool round, int threads) {
  if (op.kind == graph::OpKind::cast && !round && !graph::is_integer(op.attributes.dtype)) {
    out[0]->values = in[0]->values;
    return;
  }
  graph::Attributes attributes = op.attributes;
  attributes.tf32 = attributes.tf32 && round;
  each_part(op, in, out, threads, [&](const OperatorPart& part) {
    std::vector<ResultValues> results;
    for (std::size_t o = 0; o < out.size(); ++o) results.push_back({*part.out[o], out[o]->values.data() + part.to[o]});
    evaluate(op.kind, attributes, part.in, results, dtype, threads);
  });
}

/// Sets in `r` the error bounds of an operator's results, and, in a run with random rounding, changes the results by
/// random errors within these bounds. The operator is not custom.
void add_errors(const graph::KernelGraph& g, const graph::KernelOp& op, const std::vector<const Array*>& in,
                const std::vector<Array*>& out, const Errors& errors, const ReferenceOptions& options, int threads,
                Noise& noise, Reference& r) {
  const graph::DType dtype = g.tensors[op.inputs[0]].dtype;
  const bool sample = options.sample != 0, jump = sample && jumps(op.kind);
  if (!options.around) propagate_errors(op, dtype, in, out, errors.in, errors.out, threads);
  std::vector<Array> own(out.size());
  if (!options.around && !jump && (sample || options.spread)) own = own_errors(op, dtype, in, out, threads);
  for (std::size_t o = 0; o < out.size(); ++o) {
    const int t = op.outputs[o];
    if (options.around) r.errors[t] = options.around->before[t], own[o] = options.around->own[t];
    const graph::DType declared = options.declared ? options.declared->tensors[t].dtype : g.tensors[t].dtype;
    // A view does not round again, and every dtype can represent a comparison's 0 and 1.
    const bool omitted = declared != g.tensors[t].dtype && !graph::is_view(op.kind) && !jumps(op.kind);
    if (omitted && !options.around) add_rounding(declared, *out[o], r.errors[t]);
    std::vector<double>& y = out[o]->values;
    if (sample && cuts(op.kind, op.attributes)) noise.cut(op.attributes, in[0]->values, errors.in[0]->values, y);
    if (jump)
      noise.perturb(y, r.errors[t].values);
    else if (sample)
      noise.move(y, own[o].values);
    if (omitted && sample) noise.round(declared, y);
    if (options.spread) {
      const auto zero = [](const Array& a) { return std::ranges::all_of(a.values, [](double e) { return e == 0; }); };
      r.exact[t] = zero(r.errors[t]) && zero(own[o]);
      r.before[t] = r.errors[t], r.own[t] = std::move(own[o]);
    }
  }
}

/// Does for a custom operator's results what add_errors() does for the roundings that `g` omits: a program that is made of
/// the decomposed operator may perform any of them, or another in its place, such as that of a matmul's operand. Results that
/// the declared dtype represents, such as copies and comparisons, are not rounded elsewhere either.
void add_omitted(const graph::KernelGraph& g, const graph::KernelOp& op, const ReferenceOptions& options, Noise& noise,
                 Reference& r) {
  if (!options.declared) return;
  for (const int t : op.outputs) {
    const graph::DType declared = options.declared->tensors[t].dtype;
    Array& values = r.tensors[t];
    if (declared == g.tensors[t].dtype || representable(declared, values)) continue;
    add_rounding(declared, values, r.errors[t]);
    if (options.sample != 0) noise.round(declared, values.values);
  }
}

/// Runs operator `index` of the graph: sets its results in `r`, with what else is measured, and in `at`, which has the
/// values of each tensor. `mask`: per tensor, the non-finite values that a mask may have produced.
void run_op(const graph::KernelGraph& g, int index, const ReferenceOptions& options, const std::vector<Mask>& mask,
            int threads, std::vector<const Array*>& at, Reference& r) {
  const graph::KernelOp& op = g.ops[index];
  const Reference* around = options.around;
  if (around && std::ranges::all_of(op.outputs, [&](int t) { return around->exact[t]; })) {
    for (int t : op.outputs) {  // rounding cannot move them: their arrays stay empty, like those of inputs
      at[t] = &around->tensors[t];
      r.errors[t] = around->errors[t];
    }
    return;
  }
  std::vector<const Array*> in;
  std::vector<Array*> out;
  Errors errors;
  for (int t : op.inputs) in.push_back(at[t]);
  for (int t : op.outputs) {
    r.tensors[t] = make_array(g.tensors[t].shape);
    at[t] = &r.tensors[t];
    out.push_back(&r.tensors[t]);
  }
  if (options.errors) {
    for (int t : op.outputs) r.errors[t] = make_array(g.tensors[t].shape);
    for (int t : op.inputs) errors.in.push_back(&r.errors[t]);
    for (int t : op.outputs) errors.out.push_back(&r.errors[t]);
  }
  bool stopped = false;
  if (op.kind == graph::OpKind::custom) {
    const auto operands = run_block_graph(g, index, in, out, errors, options, mask, stopped);
    r.operands.insert(r.operands.end(), operands.begin(), operands.end());
  } else {
    compute(op, g.tensors[op.inputs[0]].dtype, in, out, options.round, threads);
  }
  Noise noise(options.sample, index, -1);
  if (options.errors && op.kind != graph::OpKind::custom)
    add_errors(g, op, in, out, errors, options, threads, noise, r);
  else if (options.errors)
    add_omitted(g, op, options, noise, r);
  for (int t : op.outputs) {
    if (stopped) break;
    r.magnitudes[t] = settle(g.tensors[t].dtype, r.tensors[t], options.errors ? &r.errors[t] : nullptr,
                             options.sample ? &noise : nullptr, options.round, mask[t], threads);
    if (op.kind == graph::OpKind::exp && !r.magnitudes[op.inputs[0]].within(options.exp_limit))
      r.magnitudes[t].finite = false;
    stopped = options.stops_at(r.magnitudes[t]);
  }
  r.stopped = stopped;
}

}  // namespace

void check_memory(const graph::KernelGraph& g) {
  const auto limit = static_cast<std::int64_t>(machine_memory() / sizeof(double));
  std::int64_t elements = 0;
  for (const graph::KernelTensor& t : g.tensors) {
    elements += graph::size(t.shape);
    if (elements > limit)
      graph::fail_at({g.name},
                     "expected tensors of at most {} elements together, what this machine's memory holds as float64 "
                     "for the reference, found more at tensor {} {}",
                     limit, t.name, graph::to_string(t.shape));
  }
}

bool Reference::within(double limit) const {
  return !stopped && std::ranges::all_of(magnitudes, [&](const Magnitude& m) { return m.within(limit); }) &&
         std::ranges::all_of(operands, [&](const BlockOperand& o) { return o.magnitude.within(limit); });
}

Reference run(const graph::KernelGraph& g, const std::vector<Array>& inputs, const ReferenceOptions& options) {
  check_memory(g);
  check_inputs(g, inputs);
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  Reference r;
  r.tensors.resize(g.tensors.size());
  r.magnitudes.resize(g.tensors.size());
  std::vector<Array> rounded(inputs.size());
  std::vector<const Array*> at(g.tensors.size(), nullptr);
  std::vector<Mask> given;  // per input: its non-finite values
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int t = g.inputs[i];
    const graph::DType dtype = g.tensors[t].dtype;
    at[t] = &inputs[i];
    if ((options.round || graph::is_integer(dtype)) && !representable(dtype, inputs[i])) {
      rounded[i] = inputs[i];
      graph::round_to(dtype, rounded[i].values.data(), std::ssize(rounded[i].values));
      at[t] = &rounded[i];
    }
    given.push_back(mask_in(*at[t]));
    if (graph::is_integer(dtype)) continue;
    r.magnitudes[t] = magnitude(at[t]->values, given[i]);
    r.stopped = r.stopped || options.stops_at(r.magnitudes[t]);
  }
  const std::vector<Mask> mask = masked(g, given);
  if (options.errors) {
    r.errors.resize(g.tensors.size());
    for (int t : g.inputs) r.errors[t] = make_array(g.tensors[t].shape);
    if (options.spread)
      r.before.resize(g.tensors.size()), r.own.resize(g.tensors.size()), r.exact.resize(g.tensors.size());
  }
  for (std::size_t i = 0; i < g.ops.size() && !r.stopped; ++i)
    run_op(g, static_cast<int>(i), options, mask, threads, at, r);
  return r;
}

std::vector<Array> run_reference(const graph::KernelGraph& g, const std::vector<Array>& inputs,
                                 const ReferenceOptions& options) {
  Reference r = run(g, inputs, options);
  std::vector<Array> outputs;
  for (int t : g.outputs) outputs.push_back(std::move(r.tensors[t]));
  return outputs;
}

}  // namespace zellige::reference
