#include "api/arguments.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::api {
namespace {

constexpr int host = 1, cuda = 2, pinned = 3;

std::string_view role(const emit::TensorPlace& t) { return t.role == emit::Role::input ? "input" : "output"; }

template <class... Args>
[[noreturn]] void mistake(const emit::Manifest& m, const emit::TensorPlace& t,
                          fmt::format_string<Args...> format, Args&&... args) {
  fail("program {}, {} {}: {}", m.name, role(t), t.name, fmt::format(format, std::forward<Args>(args)...));
}

struct Code {
  int code, bits;
  bool operator==(const Code&) const = default;
};
constexpr std::pair<graph::DType, Code> codes[] = {
    {graph::DType::f16, {2, 16}},   {graph::DType::bf16, {4, 16}}, {graph::DType::f32, {2, 32}},
    {graph::DType::e4m3, {10, 8}},  {graph::DType::e5m2, {12, 8}}, {graph::DType::int8, {0, 8}},
    {graph::DType::int32, {0, 32}},
};

bool is(const zellige_tensor& a, graph::DType dtype) {
  const auto row = std::ranges::find(codes, dtype, [](const auto& r) { return r.first; });
  return row->second == Code{a.dtype_code, a.dtype_bits} && a.dtype_lanes == 1;
}
std::string dtype_name(const zellige_tensor& a) {
  for (const auto& [dtype, code] : codes)
    if (is(a, dtype)) return std::string(graph::name(dtype));
  constexpr const char* kinds[] = {"int", "uint", "f", "opaque ", "bf", "complex", "bool"};
  const std::string lanes = a.dtype_lanes == 1 ? "" : fmt::format("x{}", a.dtype_lanes);
  if (a.dtype_code < std::size(kinds)) return fmt::format("{}{}{}", kinds[a.dtype_code], a.dtype_bits, lanes);
  return fmt::format("a dtype of DLPack's code {}, {} bits{}", a.dtype_code, a.dtype_bits, lanes);
}

std::string place_name(const zellige_tensor& a) {
  if (a.device_type == host || a.device_type == pinned) return "the host";
  if (a.device_type == cuda) return fmt::format("cuda:{}", a.device_id);
  return fmt::format("a device of DLPack's type {}", a.device_type);
}

void check_one(const emit::Manifest& m, const emit::TensorPlace& t, const zellige_tensor& a) {
  if (!is(a, t.dtype)) mistake(m, t, "expected {}, found {}", graph::name(t.dtype), dtype_name(a));
  const std::span shape(a.shape, static_cast<std::size_t>(std::max(a.rank, 0)));
  if (!std::ranges::equal(shape, t.shape))
    mistake(m, t, "expected shape {}, found {}", graph::to_string(t.shape),
            graph::to_string(graph::Shape(shape.begin(), shape.end())));
  std::int64_t packed = 1;  // the stride of a row-major tensor
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t stride = a.strides ? a.strides[d] : packed;
    packed *= shape[d];
    if (shape[d] == 1 || stride == t.strides[d]) continue;  // along an extent of 1 any number will do
    const graph::Shape found(shape.begin(), shape.end());
    mistake(m, t, "expected strides {}, found {}", graph::to_string(t.strides),
            graph::to_string(a.strides ? graph::Strides(a.strides, a.strides + a.rank)
                                       : graph::row_major(found)));
  }
  if (!a.data) mistake(m, t, "expected an address, found NULL");
  check_alignment(m, t, address(a));
}

struct Passed {
  const emit::TensorPlace* place;
  int index;  // in the manifest
  const zellige_tensor* tensor;
  const char* begin() const { return static_cast<const char*>(address(*tensor)); }
  const char* end() const { return begin() + place->bytes; }
};

void check_count(const emit::Manifest& m, const char* what, std::size_t takes, std::size_t found) {
  if (takes != found)
    fail("program {}: expected {} {}{}, found {}", m.name, takes, what, takes == 1 ? "" : "s", found);
}

/// What is written must be memory of its own, but for what the graph itself puts into an input's.
void check_overlap(const emit::Manifest& m, const std::vector<Passed>& all) {
  for (const Passed& out : all) {
    if (out.place->role != emit::Role::output) continue;
    for (const Passed& other : all) {
      if (&other == &out) continue;
      if (out.place->memory == other.index) {
        if (out.begin() != other.begin())
          mistake(m, *out.place,
                  "expected the memory of input {}, which it changes in place, found other memory",
                  other.place->name);
        continue;
      }
      const bool of_one_input = other.place->memory >= 0 || out.place->memory >= 0;
      if (!of_one_input && out.begin() < other.end() && other.begin() < out.end())
        mistake(m, *out.place, "expected memory of its own, found some of {} {}", role(*other.place),
                other.place->name);
    }
  }
}

}  // namespace

Signature::Signature(const emit::Manifest& m) {
  for (int i = 0; i < static_cast<int>(m.tensors.size()); ++i) {
    const emit::TensorPlace& t = m.tensors[i];
    if (t.role == emit::Role::intermediate) continue;
    std::vector<int>& list = t.role == emit::Role::input ? inputs : outputs;
    list.resize(std::max(list.size(), static_cast<std::size_t>(t.position) + 1), -1);
    list[static_cast<std::size_t>(t.position)] = i;
  }
}

void* address(const zellige_tensor& a) { return static_cast<char*>(a.data) + a.byte_offset; }

void check_alignment(const emit::Manifest& m, const emit::TensorPlace& t, const void* at) {
  const auto past = reinterpret_cast<std::uintptr_t>(at) % alignment;
  if (past)
    mistake(m, t, "expected memory that begins at a multiple of {} bytes, found {} past one", alignment,
            past);
}

Where check_arguments(const emit::Manifest& m, const Signature& s, std::span<const zellige_tensor> inputs,
                      std::span<const zellige_tensor> outputs) {
  check_count(m, "input", s.inputs.size(), inputs.size());
  check_count(m, "output", s.outputs.size(), outputs.size());
  std::vector<Passed> all;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    all.push_back({&m.tensors[static_cast<std::size_t>(s.inputs[i])], s.inputs[i], &inputs[i]});
  for (std::size_t i = 0; i < outputs.size(); ++i)
    all.push_back({&m.tensors[static_cast<std::size_t>(s.outputs[i])], s.outputs[i], &outputs[i]});
  for (const Passed& p : all) {
    check_one(m, *p.place, *p.tensor);
    const zellige_tensor& first = *all[0].tensor;
    if (place_name(*p.tensor) != place_name(first))
      mistake(m, *p.place, "expected it on {}, where {} {} lies, found it on {}", place_name(first),
              role(*all[0].place), all[0].place->name, place_name(*p.tensor));
  }
  check_overlap(m, all);
  if (all.empty()) return {};
  const zellige_tensor& first = *all[0].tensor;
  const bool on_gpu = first.device_type == cuda;
  if (!on_gpu && first.device_type != host && first.device_type != pinned)
    mistake(m, *all[0].place, "expected it on the host or on a CUDA device, found it on {}",
            place_name(first));
  return {on_gpu, on_gpu ? first.device_id : 0};
}

}  // namespace zellige::api
