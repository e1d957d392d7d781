#include "api/arguments.hpp"

#include <algorithm>
#include <optional>

#include "reference/parallel.hpp"

namespace zellige::api {
namespace {

constexpr int host = 1, cuda = 2, pinned = 3;

/// The dtypes in DLPack's encoding.
constexpr struct {
  graph::DType dtype;
  int code, bits;
} codes[] = {
    {graph::DType::f16, 2, 16},   {graph::DType::bf16, 4, 16},   {graph::DType::f32, 2, 32},
    {graph::DType::e4m3, 10, 8},  {graph::DType::e5m2, 12, 8},   {graph::DType::int8, 0, 8},
    {graph::DType::int32, 0, 32}, {graph::DType::boolean, 6, 8}, {graph::DType::uint8, 1, 8},
    {graph::DType::int16, 0, 16}, {graph::DType::int64, 0, 64},  {graph::DType::int4, 1, 8},
    {graph::DType::uint4, 1, 8},  {graph::DType::e2m1, 1, 8},    {graph::DType::e8m0, 1, 8},  // as bytes, uint8
    {graph::DType::f64, 2, 64},
};

bool is(const zellige_tensor& a, graph::DType dtype) {
  const auto row = std::ranges::find_if(codes, [&](const auto& known) { return known.dtype == dtype; });
  return row->code == a.dtype_code && row->bits == a.dtype_bits && a.dtype_lanes == 1;
}
std::string dtype_name(const zellige_tensor& a) {
  for (const auto& known : codes)
    if (!graph::is_weight_only(known.dtype) && is(a, known.dtype)) return std::string(graph::name(known.dtype));
  constexpr const char* kinds[] = {"int", "uint", "f", "opaque ", "bf", "complex", "bool"};
  const std::string lanes = a.dtype_lanes == 1 ? "" : fmt::format("x{}", a.dtype_lanes);
  if (a.dtype_code < std::size(kinds)) return fmt::format("{}{}{}", kinds[a.dtype_code], a.dtype_bits, lanes);
  return fmt::format("a dtype of DLPack's code {}, {} bits{}", a.dtype_code, a.dtype_bits, lanes);
}

bool on_host(const zellige_tensor& a) { return a.device_type == host || a.device_type == pinned; }
/// Returns whether two tensors are in the memory of the same device; pinned memory counts as the host's.
bool in_one_place(const zellige_tensor& a, const zellige_tensor& b) {
  return on_host(a) ? on_host(b) : a.device_type == b.device_type && a.device_id == b.device_id;
}
std::string place_name(const zellige_tensor& a) {
  if (on_host(a)) return "the host";
  if (a.device_type == cuda) return fmt::format("cuda:{}", a.device_id);
  return fmt::format("a device of DLPack's type {}", a.device_type);
}

/// Throws Error unless an array of `rank` extents or strides is aligned and, if `untrusted` is not null,
/// readable. `what` names the array in the message.
void check_numbers(const manifest::Manifest& m, const manifest::TensorPlace& t, const char* what,
                   const std::int64_t* numbers, std::size_t rank, ReadablePages* untrusted) {
  const void* const at = numbers;
  if (reinterpret_cast<std::uintptr_t>(numbers) % alignof(std::int64_t))
    mistake(m, t, "expected {} at an address that is a multiple of 8, found {}", what, at);
  if (!untrusted) return;
  if (const auto bad = untrusted->unreadable(numbers, rank * sizeof(std::int64_t)))
    mistake(m, t, "expected {} of {} numbers, found memory at {:#x} that cannot be read", what, rank, *bad);
}

/// Returns the tensor as callers have it: of bytes, if several elements are in a byte.
manifest::TensorPlace in_bytes(manifest::TensorPlace t) {
  const std::int64_t per = 8 / graph::bits(t.dtype);
  for (std::size_t d = 0; d < t.shape.size(); ++d)
    (t.strides[d] == 1 && t.shape[d] > 1 ? t.shape[d] : t.strides[d]) /= per;
  return t;
}

/// Throws Error unless the caller's tensor `a` has an address for the bytes of `t`.
void check_memory(const manifest::Manifest& m, const manifest::TensorPlace& t, const zellige_tensor& a) {
  if (t.bytes == 0) return;
  if (!a.data) mistake(m, t, "expected an address, found NULL");
  const auto last = UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(a.data);
  if (a.byte_offset > last || static_cast<std::uint64_t>(t.bytes) > last - a.byte_offset)
    mistake(m, t, "expected {} bytes from {} and byte_offset {} on, found that no address is so large", t.bytes, a.data,
            a.byte_offset);
  check_address(m, t, address(a));
}

/// Throws Error unless the caller's tensor `a` has the dtype, shape, strides and alignment of `t`, its
/// description in the manifest. If `untrusted` is not null, also throws Error if the tensor's arrays of
/// extents and strides cannot be read.
void check_one(const manifest::Manifest& m, const manifest::TensorPlace& place, const zellige_tensor& a,
               ReadablePages* untrusted) {
  std::optional<manifest::TensorPlace> bytes;  // only such are copied: a call of many tensors takes few microseconds
  if (graph::bits(place.dtype) < 8) bytes = in_bytes(place);
  const manifest::TensorPlace& t = bytes ? *bytes : place;
  if (!is(a, t.dtype))
    mistake(m, t, "expected {}{}, found {}", graph::is_weight_only(t.dtype) ? "bytes (uint8) of " : "",
            graph::name(t.dtype), dtype_name(a));
  const std::span<const std::int64_t> shape = shape_of(m, t, a, untrusted);
  check_numbers(m, t, "strides", a.strides, a.strides ? shape.size() : 0, untrusted);
  if (!std::ranges::equal(shape, t.shape))
    mistake(m, t, "expected shape {}, found {}", graph::to_string(t.shape),
            graph::to_string(graph::Shape(shape.begin(), shape.end())));
  std::int64_t packed = 1;  // the stride of a row-major tensor
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t stride = a.strides ? a.strides[d] : packed;
    packed *= shape[d];
    if (shape[d] == 1 || stride == t.strides[d]) continue;  // an extent of 1 may have any stride
    const graph::Shape found(shape.begin(), shape.end());
    mistake(m, t, "expected strides {}, found {}", graph::to_string(t.strides),
            graph::to_string(a.strides ? graph::Strides(a.strides, a.strides + a.rank) : graph::row_major(found)));
  }
  check_memory(m, t, a);
}

/// A tensor of the caller, with its description in the program's manifest.
struct Passed {
  const manifest::TensorPlace* place;
  int index;  // in the manifest
  const zellige_tensor* tensor;
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(address(*tensor)); }
  std::uintptr_t end() const { return begin() + static_cast<std::uintptr_t>(place->bytes); }
};

/// Returns the caller's tensors, inputs before outputs, each with its description in the manifest.
std::vector<Passed> passed(const manifest::Manifest& m, const Signature& s, std::span<const zellige_tensor> inputs,
                           std::span<const zellige_tensor> outputs) {
  std::vector<Passed> all;
  all.reserve(inputs.size() + outputs.size());
  const auto add = [&](const std::vector<int>& indices, std::span<const zellige_tensor> tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) all.push_back({&m.tensors[indices[i]], indices[i], &tensors[i]});
  };
  add(s.inputs, inputs), add(s.outputs, outputs);
  return all;
}

void check_count(const manifest::Manifest& m, const char* what, std::size_t takes, int found) {
  if (static_cast<std::int64_t>(takes) != found)
    fail("program {}: expected {} {}{}, found {}", m.name, takes, what, takes == 1 ? "" : "s", found);
}

/// Throws Error if an output overlaps another tensor. An output that updates an input in place must have
/// exactly that input's memory.
void check_overlap(const manifest::Manifest& m, const std::vector<Passed>& all) {
  for (const Passed& out : all) {
    if (out.place->role != manifest::Role::output) continue;
    for (const Passed& other : all) {
      if (&other == &out) continue;
      if (out.place->memory == other.index) {
        if (out.begin() != other.begin()) other_memory(m, *out.place, *other.place);
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

Signature::Signature(const manifest::Manifest& m) {
  for (int i = 0; i < static_cast<int>(m.tensors.size()); ++i) {
    const manifest::TensorPlace& t = m.tensors[i];
    if (t.role == manifest::Role::intermediate) continue;
    std::vector<int>& list = t.role == manifest::Role::input ? inputs : outputs;
    list.resize(std::max(list.size(), static_cast<std::size_t>(t.position) + 1), -1);
    list[t.position] = i;
  }
}

int dlpack_code(graph::DType dtype) {
  return std::ranges::find_if(codes, [&](const auto& known) { return known.dtype == dtype; })->code;
}

int element_of(const std::vector<int>& list, int index, const std::string& of, const char* what) {
  if (index < 0 || index >= std::ssize(list))
    fail("{}: has {} {}s, counted from 0, found {}", of, list.size(), what, index);
  return list[index];
}

void* address(const zellige_tensor& a) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(a.data) + a.byte_offset);
}

std::string_view role(const manifest::TensorPlace& t) { return t.role == manifest::Role::input ? "input" : "output"; }

void other_memory(const manifest::Manifest& m, const manifest::TensorPlace& output,
                  const manifest::TensorPlace& input) {
  mistake(m, output, "expected the memory of input {}, which it changes in place, found other memory", input.name);
}

void check_address(const manifest::Manifest& m, const manifest::TensorPlace& t, const void* at) {
  if (t.bytes == 0) return;
  if (!at) mistake(m, t, "expected an address, found NULL");
  const auto misalignment = reinterpret_cast<std::uintptr_t>(at) % alignment;
  if (misalignment)
    mistake(m, t, "expected memory that begins at a multiple of {} bytes, found {} above one", alignment, misalignment);
}

void check_counts(const manifest::Manifest& m, const Signature& s, int inputs, int outputs) {
  check_count(m, "input", s.inputs.size(), inputs);
  check_count(m, "output", s.outputs.size(), outputs);
}

std::span<const std::int64_t> shape_of(const manifest::Manifest& m, const manifest::TensorPlace& t,
                                       const zellige_tensor& a, ReadablePages* untrusted) {
  constexpr int max_shown_rank = 64;  // limit for messages
  if (a.rank < 0 || a.rank > max_shown_rank) mistake(m, t, "expected rank {}, found {}", t.shape.size(), a.rank);
  const auto rank = static_cast<std::size_t>(a.rank);
  if (rank > 0 && !a.shape) mistake(m, t, "expected the address of a shape, found NULL");
  check_numbers(m, t, "a shape", a.shape, rank, untrusted);
  return {a.shape, rank};
}

CallDevice check_arguments(const manifest::Manifest& m, const Signature& s, std::span<const zellige_tensor> inputs,
                           std::span<const zellige_tensor> outputs, ReadablePages* untrusted) {
  const std::vector<Passed> all = passed(m, s, inputs, outputs);
  for (const Passed& p : all) {
    check_one(m, *p.place, *p.tensor, untrusted);
    const zellige_tensor& first = *all[0].tensor;
    if (!in_one_place(*p.tensor, first))
      mistake(m, *p.place, "expected it on {}, where {} {} lies, found it on {}", place_name(first),
              role(*all[0].place), all[0].place->name, place_name(*p.tensor));
  }
  check_overlap(m, all);
  if (all.empty()) return {};
  const zellige_tensor& first = *all[0].tensor;
  const bool on_gpu = first.device_type == cuda;
  if (!on_gpu && !on_host(first))
    mistake(m, *all[0].place, "expected it on the host or on a CUDA device, found it on {}", place_name(first));
  return {on_gpu, on_gpu ? first.device_id : 0};
}

void check_addresses(const manifest::Manifest& m, const Signature& s, std::span<const zellige_tensor> inputs,
                     std::span<const zellige_tensor> outputs) {
  const std::vector<Passed> all = passed(m, s, inputs, outputs);
  for (const Passed& p : all) check_memory(m, *p.place, *p.tensor);
  check_overlap(m, all);
}

void check_host_memory(const manifest::Manifest& m, const Signature& s, std::span<const zellige_tensor> inputs,
                       std::span<const zellige_tensor> outputs) {
  const std::vector<Passed> all = passed(m, s, inputs, outputs);
  // Tensors larger than the machine's memory are rejected without probing each page, because probing would
  // allocate the pages.
  const double machine = reference::machine_memory();
  double total = 0;
  for (const Passed& p : all) total += static_cast<double>(p.place->bytes);
  if (total > machine)
    fail("program {}: its tensors have {:.3g} GB, more than the {:.3g} GB of memory that this machine has", m.name,
         total / 1e9, machine / 1e9);
  for (const Passed& p : all) {
    const auto bytes = static_cast<std::size_t>(p.place->bytes);
    const bool written = p.place->role == manifest::Role::output;
    const void* const at = address(*p.tensor);
    if (const auto bad = written ? unwritable(at, bytes) : unreadable(at, bytes))
      mistake(m, *p.place, "expected {} bytes from {} on that can be {}, found memory at {:#x} that cannot", bytes, at,
              written ? "written" : "read", *bad);
  }
}

}  // namespace zellige::api
