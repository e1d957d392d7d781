#include "graph/reference.hpp"

#include <unistd.h>

#include <algorithm>

#include "graph/block_reference.hpp"
#include "graph/dtype.hpp"
#include "graph/elementwise.hpp"
#include "graph/evaluate.hpp"
#include "graph/gemm.hpp"
#include "graph/masked.hpp"
#include "graph/ops.hpp"
#include "graph/parallel.hpp"
#include "graph/rounding.hpp"
#include "graph/where.hpp"

namespace zellige::graph {
namespace {

constexpr std::int64_t chunk = 1 << 16;

/// Rounds a kernel-level tensor to its dtype and measures it (integers have no scale to be too large for); and its errors, where
/// there are any.
Magnitude settle(DType dtype, Array& a, Array* error, Noise* noise, bool round, Mask mask, int threads) {
  if (noise)
    noise->store(dtype, a.values.data(), error->values.data(), static_cast<std::int64_t>(a.values.size()));
  const auto count = static_cast<std::int64_t>(a.values.size()), chunks = (count + chunk - 1) / chunk;
  std::vector<Magnitude> parts(chunks);
  parallel_for(chunks, threads, [&](std::int64_t c, int) {
    double* from = a.values.data() + c * chunk;
    const std::int64_t n = std::min(chunk, count - c * chunk);
    if (round && error) storage_error(dtype, from, error->values.data() + c * chunk, n);
    if (round) round_to(dtype, from, n);
    if (!is_integer(dtype)) parts[c] = magnitude(from, n, mask);
  });
  Magnitude m;
  for (const Magnitude& part : parts) m = join(m, part);
  return m;
}

void matmul(const Array& a, const Array& b, Array& c, int threads) {
  const std::int64_t m = c.shape[c.shape.size() - 2], k = a.shape.back(), n = c.shape.back();
  const Batches batches(a.shape, b.shape, c.shape);
  constexpr std::int64_t rows = 128, columns = 480;
  const std::int64_t down = (m + rows - 1) / rows, across = (n + columns - 1) / columns;
  parallel_for(batches.count() * down * across, threads, [&](std::int64_t task, int) {
    const std::int64_t j = task % across * columns, i = task / across % down * rows,
                       t = task / (across * down);
    gemm(std::min(rows, m - i), std::min(columns, n - j), k, a.values.data() + (batches.a[t] * m + i) * k, k,
         b.values.data() + batches.b[t] * k * n + j, n, c.values.data() + (t * m + i) * n + j, n);
  });
}

void unary(const KernelOp& op, DType dtype, const Array& x, Array& y, int threads) {
  const auto count = static_cast<std::int64_t>(x.values.size());
  parallel_for((count + chunk - 1) / chunk, threads, [&](std::int64_t c, int) {
    const Shape part{std::min(chunk, count - c * chunk)};
    evaluate(op.kind, op.attributes, {{part, x.values.data() + c * chunk}},
             {{part, y.values.data() + c * chunk}}, dtype);
  });
}

void propagate(const KernelOp& op, DType dtype, const std::vector<const Array*>& in,
               const std::vector<Array*>& out, const std::vector<const Array*>& from,
               const std::vector<Array*>& to, int threads) {
  std::vector<Uncertain> operands;
  std::vector<Operand> results;
  std::vector<double*> errors;
  for (std::size_t i = 0; i < in.size(); ++i)
    operands.push_back({{in[i]->shape, in[i]->values.data()}, from[i]->values.data()});
  for (std::size_t i = 0; i < out.size(); ++i) {
    results.push_back({out[i]->shape, out[i]->values.data()});
    errors.push_back(to[i]->values.data());
  }
  propagate(op.kind, op.attributes, dtype, operands, results, errors, 1, threads);
}

/// Moves the results by errors of the operator's own: a kernel's, drawn at random.
void perturb(const KernelOp& op, DType dtype, const std::vector<const Array*>& in,
             const std::vector<Array*>& out, Noise& noise, int threads) {
  std::vector<Array> none, own;
  std::vector<const Array*> from;
  std::vector<Array*> to;
  for (const Array* a : in) none.push_back(make_array(a->shape));
  for (const Array* a : out) own.push_back(make_array(a->shape));
  for (const Array& a : none) from.push_back(&a);
  for (Array& a : own) to.push_back(&a);
  propagate(op, dtype, in, out, from, to, threads);
  for (std::size_t i = 0; i < out.size(); ++i)
    noise.move(out[i]->values.data(), own[i].values.data(), static_cast<std::int64_t>(own[i].values.size()));
}

void check_inputs(const KernelGraph& g, const std::vector<Array>& inputs) {
  if (inputs.size() != g.inputs.size())
    fail_at({g.name}, "expected {} input arrays, found {}", g.inputs.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const KernelTensor& t = g.tensors[g.inputs[i]];
    if (inputs[i].shape != t.shape || static_cast<std::int64_t>(inputs[i].values.size()) != size(t.shape))
      fail_at({g.name}, "expected an array of shape {} for input {}, found {} with {} values",
              to_string(t.shape), t.name, to_string(inputs[i].shape), inputs[i].values.size());
  }
}

bool representable(DType dtype, const Array& a) {
  const Format f = format(dtype);
  bool same = true;
  if (f.integer_bits)
    for (double v : a.values) same &= to_integer(f.integer_bits, v) == v;
  else
    for (double v : a.values) same &= round_to_float(f, v) == v || v != v;
  return same;
}

}  // namespace

void check_memory(const KernelGraph& g) {
  const std::int64_t page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t most = page * pages / static_cast<std::int64_t>(sizeof(double));
  std::int64_t elements = 0;
  for (const KernelTensor& t : g.tensors) {
    elements += size(t.shape);
    if (elements > most)
      fail_at({g.name},
              "expected tensors of at most {} elements together, what this machine's memory holds as "
              "float64 for the reference, found more at tensor {} {}",
              most, t.name, to_string(t.shape));
  }
}

bool Reference::within(double limit) const {
  return !stopped && std::ranges::all_of(magnitudes, [&](const Magnitude& m) { return m.within(limit); }) &&
         std::ranges::all_of(operands, [&](const BlockOperand& o) { return o.magnitude.within(limit); });
}

Reference run(const KernelGraph& g, const std::vector<Array>& inputs, const ReferenceOptions& options) {
  check_memory(g);
  check_inputs(g, inputs);
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  Reference r;
  r.tensors.resize(g.tensors.size());
  r.magnitudes.resize(g.tensors.size());
  std::vector<Array> rounded(inputs.size());
  std::vector<const Array*> at(g.tensors.size(), nullptr);
  std::vector<Mask> given;  // by input
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int t = g.inputs[i];
    const DType dtype = g.tensors[t].dtype;
    at[t] = &inputs[i];
    if ((options.round || is_integer(dtype)) && !representable(dtype, inputs[i])) {
      rounded[i] = inputs[i];
      round_to(dtype, rounded[i].values.data(), static_cast<std::int64_t>(rounded[i].values.size()));
      at[t] = &rounded[i];
    }
    given.push_back(mask_in(*at[t]));
    if (is_integer(dtype)) continue;
    r.magnitudes[t] =
        magnitude(at[t]->values.data(), static_cast<std::int64_t>(at[t]->values.size()), given[i]);
    r.stopped = r.stopped || options.stops_at(r.magnitudes[t]);
  }
  const std::vector<Mask> mask = masked(g, given);
  if (options.errors) {
    r.errors.resize(g.tensors.size());
    for (int t : g.inputs) r.errors[t] = make_array(g.tensors[t].shape);
  }
  for (std::size_t i = 0; i < g.ops.size() && !r.stopped; ++i) {
    const KernelOp& op = g.ops[i];
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
    if (op.kind == OpKind::custom) {
      const auto operands = run_block_graph(g, static_cast<int>(i), in, out, errors, options, mask, stopped);
      r.operands.insert(r.operands.end(), operands.begin(), operands.end());
    } else if (op.kind == OpKind::matmul && op.attributes.tf32 && options.round) {
      const auto rounded = [](const Array& a) { return Array{a.shape, in_tf32({a.shape, a.values.data()})}; };
      matmul(rounded(*in[0]), rounded(*in[1]), *out[0], threads);
    } else if (op.kind == OpKind::matmul) {
      matmul(*in[0], *in[1], *out[0], threads);
    } else if (op.kind == OpKind::cast && !options.round && !is_integer(op.attributes.dtype)) {
      out[0]->values = in[0]->values;
    } else if (is_elementwise(op.kind) && op.inputs.size() == 1) {
      unary(op, g.tensors[op.inputs[0]].dtype, *in[0], *out[0], threads);
    } else {
      std::vector<Operand> operands;
      std::vector<Result> results;
      for (const Array* a : in) operands.push_back({a->shape, a->values.data()});
      for (Array* a : out) results.push_back({a->shape, a->values.data()});
      evaluate(op.kind, op.attributes, operands, results, g.tensors[op.inputs[0]].dtype);
    }
    Noise noise(options.sample, static_cast<int>(i), -1);
    if (options.errors && op.kind != OpKind::custom) {
      const DType dtype = g.tensors[op.inputs[0]].dtype;
      propagate(op, dtype, in, out, errors.in, errors.out, threads);
      if (options.sample && jumps(op.kind))
        noise.turn(out[0]->values.data(), errors.out[0]->values.data(),
                   static_cast<std::int64_t>(out[0]->values.size()));
      else if (options.sample)
        perturb(op, dtype, in, out, noise, threads);
    }
    for (int t : op.outputs) {
      if (stopped) break;
      r.magnitudes[t] = settle(g.tensors[t].dtype, r.tensors[t], options.errors ? &r.errors[t] : nullptr,
                               options.sample ? &noise : nullptr, options.round, mask[t], threads);
      if (op.kind == OpKind::exp && !r.magnitudes[op.inputs[0]].within(options.exp_limit))
        r.magnitudes[t].finite = false;
      stopped = options.stops_at(r.magnitudes[t]);
    }
    r.stopped = stopped;
  }
  return r;
}

std::vector<Array> run_reference(const KernelGraph& g, const std::vector<Array>& inputs,
                                 const ReferenceOptions& options) {
  Reference r = run(g, inputs, options);
  std::vector<Array> outputs;
  for (int t : g.outputs) outputs.push_back(std::move(r.tensors[t]));
  return outputs;
}

}  // namespace zellige::graph
