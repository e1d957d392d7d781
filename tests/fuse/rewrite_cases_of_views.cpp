// See rewrite_cases.hpp.
#include "rewrite_cases.hpp"

namespace zellige::fuse::test {
namespace {

TensorHandle norm_of(TensorHandle t) { return sqrt(sum(square(t), 1, true)); }
}  // namespace

std::vector<Case> cases_of_views() {
  return {
      {"dead code",
       {[](Draw& d) {
          const TensorHandle t = d.x();
          exp(t);
          return relu(t);
        },
        "relu"},
       {[](Draw& d) {
          const TensorHandle t = d.x(), p = relu(t);
          return p + exp(t);
        },
        "relu exp add"}},
      {"memory order",
       {[](Draw& d) {
          return relu(d.b.input("x", {d.a, d.c, d.c, d.c}, graph::DType::f32, {d.c * d.c * d.c, 1, d.c * d.c, d.c}));
        },
        "permute relu permute"},
       {[](Draw& d) {  // the order of a view, not of memory
          return relu(permute(d.in("x", {d.a, d.c, d.c, d.c}), {0, 3, 1, 2}));
        },
        "permute relu"}},
      {"split rows",
       {[](Draw& d) {
          const TensorHandle x = d.in("x", {d.m, 12}, DType::f32), w = d.in("w", {12}, DType::f32);
          const TensorHandle y = reshape(rms_norm(relu(x)) * w, {d.m, 3, 4});
          return y * amax(abs(y), {2}, true);
        },
        "reshape relu rms_norm reshape mul reshape abs amax mul"},
       {[](Draw& d) {  // whole rows
          const TensorHandle x = d.in("x", {d.m, 12}, DType::f32), y = reshape(relu(x), {d.m, 3, 4});
          return y * sum(abs(y), {2}, true);
        },
        "relu reshape abs sum mul"},
       cost},
      {"widened weights",
       {[](Draw& d) {
          const TensorHandle x = d.in("x", {d.m, 128}, DType::f16), w = d.in("w", {32, 128}, DType::uint4);
          return matmul(x, transposed(cast(w, DType::f16) * d.in("s", {32, 1}, DType::f16)));
        },
        "custom"},
       {[](Draw& d) {
          const TensorHandle x = d.in("x", {64 + d.m, 128}, DType::f16), w = d.in("w", {32, 128}, DType::uint4);
          return matmul(x, transposed(cast(w, DType::f16) * d.in("s", {32, 1}, DType::f16)));
        },
        "cast mul permute matmul"},
       cost},
      {"weights in registers",
       {[](Draw& d) {
          const TensorHandle x = d.in("x", {64 + d.m, 128}, DType::f16), w = d.in("w", {65, 128}, DType::uint4);
          return matmul(x, transposed(cast(w, DType::f16) * d.in("s", {65, 1}, DType::f16)));
        },
        "custom"},
       {[](Draw& d) {  // K is no multiple of 64
          const TensorHandle x = d.in("x", {64 + d.m, 96}, DType::f16), w = d.in("w", {65, 96}, DType::uint4);
          return matmul(x, transposed(cast(w, DType::f16) * d.in("s", {65, 1}, DType::f16)));
        },
        "cast mul permute matmul"},
       cost},
      {"scaled blocks",
       {[](Draw& d) {
          const TensorHandle x = d.in("x", {d.m, 256}, DType::e4m3), w = d.in("w", {64, 256}, DType::e4m3);
          const TensorHandle s = d.in("s", {d.m, 2, 1}, DType::f32), t = d.in("t", {64, 2, 1}, DType::f32);
          const auto scaled = [](const TensorHandle& v, const TensorHandle& by, std::int64_t n) {
            return cast(reshape(reshape(cast(v, DType::f32), {n, 2, 128}) * by, {n, 256}), DType::bf16);
          };
          return matmul(scaled(x, s, d.m), transposed(scaled(w, t, 64)));
        },
        "permute reshape reshape permute custom"},
       {[](Draw& d) {  // blocks of 64 of K
          const TensorHandle x = d.in("x", {d.m, 256}, DType::e4m3), w = d.in("w", {64, 256}, DType::e4m3);
          const TensorHandle s = d.in("s", {d.m, 4, 1}, DType::f32);
          const TensorHandle left =
              cast(reshape(reshape(cast(x, DType::f32), {d.m, 4, 64}) * s, {d.m, 256}), DType::bf16);
          return matmul(left, transposed(cast(cast(w, DType::f32) * d.in("t", {64, 1}, DType::f32), DType::bf16)));
        },
        "cast reshape mul reshape cast cast mul cast permute matmul"},
       cost},
      {"computed twice",
       {[](Draw& d) {
          const TensorHandle x = d.x(), z = d.z(), t = relu(x);
          return t + square(relu(x)) * z;
        },
        "relu square mul add"},
       {[](Draw& d) {
          const TensorHandle x = d.x(), z = d.z(), t = relu(x);
          return t + square(relu(z)) * z;
        },
        "relu relu square mul add"}},
      {"identity",
       {[](Draw& d) {
          return relu(reshape(d.x() * 1.0, {d.m, d.n}));
        },
        "relu"},
       {[](Draw& d) { return relu(d.x() * 2.0); }, "mul_scalar relu"}},
      {"permuted reduction",
       {[](Draw& d) {
          const TensorHandle z = d.in("z", {d.a, d.m, d.a});
          return sum(exp(permute(z, {0, 2, 1})), 2) + d.in("w", {d.a, d.a});
        },
        "exp sum add"},
       {[](Draw& d) {
          const TensorHandle z = d.in("z", {d.a, d.m, d.a});
          return sum(exp(permute(z, {2, 1, 0})), 1) + d.in("w", {d.a, d.a});
        },
        "permute exp sum add"}},
      {"split reduction",
       {[](Draw& d) {
          return mean(reshape(d.in("x", {d.m, d.e * d.m}), {d.m, d.e, d.m}), {1, 2}) + d.in("w", {d.m});
        },
        "mean add"},
       {[](Draw& d) {
          return mean(reshape(d.in("x", {d.m, d.e * d.m}), {d.m, d.e, d.m}), {0, 1}) + d.in("w", {d.m});
        },
        "reshape mean add"}},
      {"kept dimensions",
       {[](Draw& d) {
          return rsqrt(reshape(mean(square(d.in("x", {d.m, d.m})), 1), {d.m, 1})) * d.in("z", {d.m, d.m});
        },
        "square mean rsqrt mul"},
       {[](Draw& d) {  // the dimension is put back elsewhere
          return reshape(mean(square(d.in("x", {d.m, d.m})), 1), {1, d.m}) * d.in("z", {d.m, d.m});
        },
        "square mean reshape mul"}},
      {"part of a concatenation",
       {[](Draw& d) {
          const TensorHandle x = d.x();
          return relu(slice(concat(x, d.in("z", {d.m, d.a}), 1), 1, 0, d.n));
        },
        "relu"},
       {[](Draw& d) {
          const TensorHandle x = d.x();
          return relu(slice(concat(x, d.in("z", {d.m, d.a}), 1), 1, 1, d.n + 1));
        },
        "concat slice relu"}},
      {"repeated concatenation",
       {[](Draw& d) {
          const TensorHandle t = d.in("t", {d.m, 1, d.n}), u = d.in("u", {d.m, 1, d.n});
          return concat(t, t, 1) + u;
        },
        "expand add"},
       {[](Draw& d) {
          const TensorHandle t = d.in("t", {d.m, 1, d.n}), u = d.in("u", {d.m, 1, d.n});
          return concat(t, u, 1) + u;
        },
        "concat add"}},
      {"broadcast",
       {[](Draw& d) {
          const TensorHandle t = d.x();
          return t / expand(norm_of(t), {d.m, d.n});
        },
        "square sum sqrt div"},
       {[](Draw& d) {
          const TensorHandle r = norm_of(d.x());
          return expand(r, {d.m, d.n}) + d.in("s", {1, 1});
        },
        "square sum sqrt expand add"},
       shapes},
      {"moved ones",
       {[](Draw& d) {
          return relu(reshape(permute(reshape(d.x(), {d.m, d.n, 1}), {2, 0, 1}), {d.m, d.n}) + d.z());
        },
        "add relu"},
       {[](Draw& d) {
          return relu(reshape(permute(reshape(d.x(), {d.a, d.c, d.n}), {1, 0, 2}), {d.m, d.n}) + d.z());
        },
        "reshape permute reshape add relu"}},
      {"batch of one",
       {[](Draw& d) {
          return relu(matmul(d.in("z", {1, d.m, d.n}), reshape(d.in("w", {d.n, d.a}), {1, d.n, d.a})));
        },
        "matmul relu"},
       {[](Draw& d) {
          return relu(matmul(d.in("z", {d.e, d.m, d.n}), reshape(d.in("w", {d.e * d.n, d.a}), {d.e, d.n, d.a})));
        },
        "reshape matmul relu"},
       shapes},
      {"broadcast batches",
       {[](Draw& d) {
          return matmul(d.in("q", {d.a, d.m, d.n}), expand(d.in("k", {1, d.n, d.e}), {d.a, d.n, d.e}));
        },
        "matmul"},
       {[](Draw& d) {
          return matmul(d.in("q", {1, d.m, d.n}), expand(d.in("k", {1, d.n, d.e}), {d.a, d.n, d.e}));
        },
        "expand matmul"},
       shapes},
      {"there and back",
       {[](Draw& d) {
          const TensorHandle y = reshape(relu(d.x()), {1, d.m, d.n});
          return reshape(softmax(mask(y, {.tril = 0}, graph::Attributes{}.value, {1, 2}), 2), {d.m, d.n});
        },
        "relu mask softmax"},
       {[](Draw& d) {
          return reshape(softmax(reshape(relu(d.x()), {d.m, d.e, d.f}), 2), {d.m, d.n});
        },
        "reshape relu softmax reshape"}},
      {"transposed product",
       {[](Draw& d) {
          return transposed(matmul(d.in("w", {d.n, d.n}), transposed(d.in("x", {d.n, d.n}))));
        },
        "permute matmul"},
       {[](Draw& d) {
          return transposed(matmul(d.in("w", {d.n, d.n}), d.in("x", {d.n, d.n})));
        },
        "matmul permute"}},
      {"two views",
       {[](Draw& d) {
          return relu(permute(permute(d.in("z", {d.a, d.a + 1, d.e}), {2, 0, 1}), {2, 0, 1}));
        },
        "permute relu"},
       {[](Draw& d) {
          return relu(reshape(permute(d.in("z", {d.a, d.a + 1, d.e}), {2, 0, 1}), {d.a + 1, d.e, d.a}));
        },
        "permute reshape relu"}},
      {"merged batches",
       {[](Draw& d) {
          const TensorHandle q = reshape(d.in("q", {d.a, d.c, d.e, d.n}), {d.m, d.e, d.n}),
                             k = reshape(d.in("k", {d.a, d.c, d.n, d.f}), {d.m, d.n, d.f});
          return relu(reshape(matmul(q, k), {d.a, d.c, d.e, d.f}));
        },
        "matmul relu"},
       {[](Draw& d) {
          const TensorHandle q = reshape(d.in("q", {d.a, d.c, d.e, d.n}), {d.m, d.e, d.n}),
                             k = reshape(d.in("k", {d.m, 1, d.n, d.f}), {d.m, d.n, d.f});
          return relu(reshape(matmul(q, k), {d.a, d.c, d.e, d.f}));
        },
        "reshape reshape matmul reshape relu"},
       shapes},
      {"two masks",
       {[](Draw& d) {
          return mask(mask(d.in("s", {d.m, d.m}), {.tril = 0}, -1), {.triu = -1}, -1);
        },
        "mask"},
       {[](Draw& d) {
          return mask(mask(d.in("s", {d.m, d.m}), {.tril = 0}, -1), {.triu = -1}, -2);
        },
        "mask mask"}},
  };
}

}  // namespace zellige::fuse::test
