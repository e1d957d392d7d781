// NumPy's .npy files, version 1.0, little-endian and row-major.
//
//   write_whole("x.npy", npy(DType::f16, {2, 4096}, values));   // numpy.load("x.npy").dtype == float16
//
// NumPy has no bfloat16, e4m3 and e5m2: such values are written as float32, which holds them exactly.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "run/files.hpp"

namespace zellige::run {

/// The dtype in which a tensor's values are written.
graph::DType npy_dtype(graph::DType);

/// The contents of a file. Values are rounded to the written type; a tensor's values already are.
std::string npy(graph::DType, const graph::Shape&, const std::vector<double>& values);

struct Npy {
  graph::DType dtype{};  // as in the file: f16, f32, int8 or int32
  graph::Shape shape;
  std::vector<double> values;
};

/// Reads files of npy() and NumPy with <f2, <f4, |i1 and <i4; `where` names the file in messages.
Npy parse_npy(std::string_view bytes, std::string_view where);

/// Reads a file no further than its header declares, so that it never waits for surplus elements or an end
/// that does not come.
class NpyFile {
 public:
  /// Reads the header.
  explicit NpyFile(const std::string& file);
  graph::DType dtype() const { return header_.dtype; }
  const graph::Shape& shape() const { return header_.shape; }
  /// Reads the elements; call once. Throws Error if the file has more or fewer bytes than its shape needs.
  std::vector<double> values();

 private:
  FileReader file_;
  std::string where_;
  std::size_t header_bytes_ = 0;
  Npy header_;  // without values
};

}  // namespace zellige::run
