#include "plan/contexts.hpp"

#include "plan/registers.hpp"

namespace zellige::plan {

std::int64_t linear(const Shape& at, const Shape& shape) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

Context sweep_context(const Shape& domain, int inner, int vector) {
  Context c;
  c.kind = ContextKind::sweep;
  c.domain = domain;
  c.inner = inner;
  c.vector = vector;
  c.order.push_back(inner);
  for (int d = static_cast<int>(domain.size()) - 1; d >= 0; --d)
    if (d != inner) c.order.push_back(d);
  return c;
}

namespace {

Sweep walk_sweep(const Context& c, int threads, int limit) {
  Sweep result{{}, c.inner, c.vector};
  Shape chunks = c.domain;
  chunks[c.inner] = (chunks[c.inner] + c.vector - 1) / c.vector;
  std::int64_t total = 1;
  for (auto e : chunks) total *= e;
  for (std::int64_t first = 0; first < total; first += 32) {
    if (first % threads + 32 > threads && threads % 32 != 0 && first % threads % 32 != 0)
      continue;  // straddles warps
    if (static_cast<int>(result.accesses.size()) >= limit) break;
    WarpAccess access;
    for (int lane = 0; lane < 32; ++lane) {
      std::int64_t chunk = first + lane;
      Shape at;
      if (chunk < total) {
        at.resize(chunks.size());
        for (int d : c.order) at[d] = chunk % chunks[d], chunk /= chunks[d];
        at[c.inner] *= c.vector;
      }
      access.lanes.push_back(at);
    }
    result.accesses.push_back(std::move(access));
  }
  return result;
}

Sweep walk_fragment(const Context& c, int limit) {
  const int rank = static_cast<int>(c.domain.size());
  const ThreadValue& held = c.row->c.layout;
  const int tile_m = c.row->m, tile_n = c.row->n;
  const int pair = held.values[0].shape;  // neighbours along N
  Sweep result{{}, rank - 1, pair};
  const std::int64_t m = c.domain[rank - 2], n = c.domain[rank - 1];
  const Shape batches(c.domain.begin(), c.domain.end() - 2);
  const std::int64_t batch = graph::size(batches);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t mt = 0; mt * tile_m < m; ++mt)
      for (std::int64_t nt = 0; nt * tile_n < n; ++nt)
        for (int value = 0; value < held.value_count(); value += pair) {
          if (static_cast<int>(result.accesses.size()) >= limit) return result;
          WarpAccess access;
          for (int lane = 0; lane < 32; ++lane) {
            Shape at = coordinates(b, batches);
            const int in_tile = held(lane, value);
            at.push_back(mt * tile_m + in_tile % tile_m);
            at.push_back(nt * tile_n + in_tile / tile_m);
            if (at[rank - 2] >= m || at[rank - 1] >= n) at.clear();
            access.lanes.push_back(at);
          }
          result.accesses.push_back(std::move(access));
        }
  return result;
}

Sweep walk_lanes(const Context& c, int threads, int limit) {
  Sweep result{{}, c.reduce_dim, c.vector};
  const int group = c.lanes * c.splits, full = threads / 32 * 32, groups = full / group;
  const std::int64_t outputs = graph::size(c.domain), steps = (c.length / c.vector + group - 1) / group;
  for (std::int64_t o0 = 0; o0 < outputs; o0 += groups)
    for (std::int64_t j = 0; j < steps; ++j)
      for (int warp = 0; warp < full / 32; ++warp) {
        if (static_cast<int>(result.accesses.size()) >= limit) return result;
        WarpAccess access;
        bool any = false;
        for (int lane = 0; lane < 32; ++lane) {
          const int thread = warp * 32 + lane;
          const std::int64_t o = o0 + thread / group, k = (thread % group + j * group) * c.vector;
          Shape at;
          if (thread < groups * group && o < outputs && k < c.length) {
            at = coordinates(o, c.domain);
            at[c.reduce_dim] += k * c.to;
            any = true;
          }
          access.lanes.push_back(at);
        }
        if (any) result.accesses.push_back(std::move(access));
      }
  return result;
}

}  // namespace

Sweep walk(const Context& c, int threads, int limit) {
  switch (c.kind) {
    case ContextKind::sweep:
      return walk_sweep(c, threads, limit);
    case ContextKind::fragment:
      return walk_fragment(c, limit);
    case ContextKind::lanes:
      return walk_lanes(c, threads, limit);
  }
  return {};
}

void for_each_held(const Context& c, int threads, const std::function<void(int, const Shape&)>& visit) {
  if (c.kind == ContextKind::sweep) {
    for_each(swept(c, threads), [&](int thread, int, const Shape& at) {
      if (!at.empty()) visit(thread, at);
    });
  } else if (c.kind == ContextKind::lanes) {
    const int group = c.lanes * c.splits, groups = threads / 32 * 32 / group;
    const std::int64_t outputs = graph::size(c.domain);
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t k = 0; k < c.length; k += c.vector) {
        Shape at = coordinates(o, c.domain);
        at[c.reduce_dim] += k * c.to;
        const int thread = static_cast<int>(o % groups * group + k / c.vector % group);
        for (int v = 0; v < c.vector; ++v, ++at[c.reduce_dim]) visit(thread, at);
      }
  }
}

bool inside(const Shape& at, const Shape& shape) {
  bool in = at.size() == shape.size();
  for (std::size_t d = 0; in && d < shape.size(); ++d) in = at[d] < shape[d];
  return in;
}

std::vector<int> owners(const Context& c, int threads, const Shape& shape) {
  std::vector<int> owner(graph::size(shape), -1);
  for_each_held(c, threads, [&](int thread, const Shape& at) {
    if (!inside(at, shape)) return;
    int& o = owner[linear(at, shape)];
    o = o == -1 || o == thread ? thread : -2;
  });
  for (int& o : owner) o = o < 0 ? -1 : o;
  return owner;
}

std::string print(const Context& c) {
  switch (c.kind) {
    case ContextKind::fragment:
      return fmt::format("accumulators of {} under warps {}x{}x{} (batch, M, N){}", to_string(c.domain),
                         c.warps.b, c.warps.m, c.warps.n,
                         c.slices > 1 ? fmt::format(", {} slices of N", c.slices) : "");
    case ContextKind::sweep:
      return fmt::format("sweep of {} by {} along dimension {}", to_string(c.domain), c.vector, c.inner);
    case ContextKind::lanes:
      return fmt::format("{} lanes{} an output of {}, {} summands each, by {}", c.lanes,
                         c.splits > 1 ? fmt::format(" in each of {} warps", c.splits) : "",
                         to_string(c.domain), c.length, c.vector);
  }
  return "";
}

}  // namespace zellige::plan
