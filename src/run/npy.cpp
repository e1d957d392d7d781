#include "run/npy.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "graph/dtype.hpp"
#include "strings/nearest.hpp"
#include "strings/shown.hpp"

namespace zellige::run {
namespace {

constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);

struct NpyElement {
  std::string_view descr;
  graph::DType dtype;
};
constexpr NpyElement elements[] = {
    {"'<f2'", graph::DType::f16},   {"'<f4'", graph::DType::f32},     {"'|i1'", graph::DType::int8},
    {"'<i4'", graph::DType::int32}, {"'|b1'", graph::DType::boolean}, {"'|u1'", graph::DType::uint8},
    {"'<i2'", graph::DType::int16}, {"'<i8'", graph::DType::int64},   {"'<f8'", graph::DType::f64}};

// Returns the rest of a .npy header from the value of `key` on. Throws Error if the header lacks the key;
// `where` names the file in the message.
std::string_view value_of(std::string_view header, std::string_view key, std::string_view where) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) fail("{}: is no .npy file that can be read: its header has no '{}'", where, key);
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

// Parses a tuple such as "(2, 4096)". Throws Error if `text` is not a tuple; `where` names the file in the message.
graph::Shape parse_shape(std::string_view text, std::string_view where) {
  graph::Shape shape;
  if (!text.starts_with('(')) fail("{}: is no .npy file that can be read: its shape is no tuple", where);
  for (text.remove_prefix(1); !text.empty() && text[0] != ')';) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || n < 0) fail("{}: is no .npy file that can be read: its shape is no tuple", where);
    shape.push_back(n);
    text.remove_prefix(end - text.data());
    while (text.starts_with(',') || text.starts_with(' ')) text.remove_prefix(1);
  }
  return shape;
}

constexpr std::size_t start_bytes = magic.size() + 2;  // magic and the header's length

// Returns the length of a .npy file's header in bytes. `start`: the first bytes of the file. Throws Error if
// they are not the start of a .npy file of version 1.0; `where` names the file in the message.
std::size_t header_length(std::string_view start, std::string_view where) {
  if (!start.starts_with(magic) || start.size() < start_bytes) fail("{}: is no .npy file of version 1.0", where);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(start[i])); };
  return byte(magic.size()) | byte(magic.size() + 1) << 8;
}

/// Returns the dtype and shape in a .npy header. Throws Error for a dtype that is not supported and for column-major
/// arrays; `where` names the file in the message.
NpyHeader parse_header(std::string_view header, std::string_view where) {
  NpyHeader array;
  const std::string_view descr = value_of(header, "descr", where);
  const auto element = std::ranges::find_if(elements, [&](const NpyElement& e) { return descr.starts_with(e.descr); });
  if (element == std::end(elements))
    fail("{}: holds elements of {}; '<f2', '<f4', '|i1' and '<i4' can be read", where,
         descr.substr(0, descr.find(',')));
  array.dtype = element->dtype;
  if (!value_of(header, "fortran_order", where).starts_with("False"))
    fail("{}: is column-major; only row-major files can be read", where);
  array.shape = parse_shape(value_of(header, "shape", where), where);
  return array;
}

// Returns the number of elements of a shape. Throws Error if it overflows; `where` names the file in the message.
std::size_t count_of(const graph::Shape& shape, std::string_view where) {
  std::size_t count = 1;
  for (const std::int64_t n : shape)
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(n), &count)) fail("{}: has too large a shape", where);
  return count;
}

/// Throws the Error for a file that has more or fewer bytes of elements than its dtype and shape need. `bytes`: number
/// of bytes found; if `more` is true, there are more than that. `where` names the file in the message.
[[noreturn]] void wrong_bytes(const NpyHeader& array, std::size_t bytes, bool more, std::string_view where) {
  fail("{}: holds {}{} bytes of elements; its shape {} needs {} of {}", where, more ? "more than " : "", bytes,
       graph::to_string(array.shape), count_of(array.shape, where), graph::whole_bytes(array.dtype));
}

}  // namespace

graph::DType npy_dtype(graph::DType dtype) {
  return std::ranges::count(elements, dtype, &NpyElement::dtype) > 0 ? dtype : graph::DType::f32;
}

std::string npy(graph::DType dtype, const graph::Shape& shape, const std::vector<double>& values) {
  const graph::DType written = npy_dtype(dtype);
  const std::string_view descr = std::ranges::find(elements, written, &NpyElement::dtype)->descr;
  const std::string extents = fmt::format("{}{}", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::string header = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", descr, extents);
  // Magic, length and header fill a multiple of 64 bytes together, and end in a newline.
  header.append(63 - (magic.size() + 2 + header.size()) % 64, ' ').push_back('\n');

  std::string file(magic);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  const std::size_t start = file.size(), width = static_cast<std::size_t>(graph::whole_bytes(written));
  file.resize(start + width * values.size());
  char* to = file.data() + start;
  for (const double v : values) {
    const std::uint64_t bits = graph::to_bits(written, v);
    std::memcpy(to, &bits, width);
    to += width;
  }
  return file;
}

NpyFile::NpyFile(const std::string& file) : file_(file), where_(strings::shown(file)) {
  const std::size_t length = header_length(file_.next(start_bytes), where_);
  const std::string header = file_.next(length);
  if (header.size() < length) fail("{}: ends within its header", where_);
  header_ = parse_header(header, where_);
  header_bytes_ = start_bytes + length;
}

std::vector<double> NpyFile::values() {
  const auto width = static_cast<std::size_t>(graph::whole_bytes(header_.dtype));
  std::size_t needed = 0;
  if (__builtin_mul_overflow(count_of(header_.shape, where_), width, &needed))
    fail("{}: has too large a shape", where_);
  if (const auto all = file_.size(); all && *all != header_bytes_ + needed)
    wrong_bytes(header_, *all - std::min(*all, header_bytes_), false, where_);
  const std::string bytes = file_.next(needed);
  if (bytes.size() < needed) wrong_bytes(header_, bytes.size(), false, where_);
  if (!file_.next(1).empty()) wrong_bytes(header_, needed, true, where_);
  std::vector<double> values(needed / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + width * i, width);  // little-endian
    values[i] = graph::from_bits(header_.dtype, bits);
  }
  return values;
}

void check_numbers(const graph::Numbers& numbers, const reference::Array& a, const std::string& which) {
  if (numbers.rows == 0) return;
  std::vector<bool> seen(numbers.rows, false);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double n = a.values[i];
    const auto at = [&] { return graph::to_string(graph::coordinates(static_cast<std::int64_t>(i), a.shape)); };
    if (!(n >= 0 && n < static_cast<double>(numbers.rows)))
      fail("{} holds row indices from 0 to {}, found {} at {}", which, numbers.rows - 1, n, at());
    if (numbers.distinct && seen[n])
      fail("{} holds row indices that are written, each once, found {} again at {}", which, n, at());
    seen[n] = true;
  }
}

std::size_t input_named(const graph::KernelGraph& g, const std::string& name, std::string_view option) {
  std::vector<std::string> names;
  for (const int t : g.inputs) names.push_back(g.tensors[t].name);
  const auto at = std::ranges::find(names, name);
  if (at == names.end())
    fail("graph {} has no input {}, which {}{}", g.name, strings::shown(name), option,
         known_names("inputs", names, name));
  return at - names.begin();
}

reference::GivenInputs given_inputs(const graph::KernelGraph& g, const InputFiles& files) {
  reference::GivenInputs given(g.inputs.size());
  const std::vector<graph::Numbers> numbers = graph::drawn_numbers(g);
  for (const auto& [name, file] : files) {
    const std::size_t at = input_named(g, name, "--input gives");
    const graph::KernelTensor& t = g.tensors[g.inputs[at]];
    NpyFile found(file);
    const graph::DType written = npy_dtype(t.dtype);
    if (found.dtype() != written || found.shape() != t.shape)
      fail("{}: input {} of graph {} is {} {}{}, found {} {}", strings::shown(file), name, g.name, graph::name(t.dtype),
           graph::to_string(t.shape), written == t.dtype ? "" : ", in a file f32", graph::name(found.dtype()),
           graph::to_string(found.shape()));
    std::vector<double> values = found.values();
    graph::round_to(t.dtype, values.data(), static_cast<std::int64_t>(values.size()));
    for (double& v : values)
      if (v != v)
        // one NaN for all: other bits of a NaN mean "never written"
        v = std::numeric_limits<double>::quiet_NaN();
    reference::Array array{t.shape, std::move(values)};
    check_numbers(numbers[at], array, fmt::format("{}: input {} of graph {}", strings::shown(file), name, g.name));
    given[at] = std::make_shared<reference::Array>(std::move(array));
  }
  return given;
}

}  // namespace zellige::run
