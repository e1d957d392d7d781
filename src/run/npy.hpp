// Reads and writes NumPy's .npy files, version 1.0, little-endian and row-major.
//
//   write_whole("x.npy", npy(DType::f16, {2, 4096}, values));   // numpy.load("x.npy").dtype == float16
//
// NumPy has no bfloat16, e4m3 and e5m2; such values are written as float32, which represents them exactly.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "run/files.hpp"

namespace zellige::run {

/// Returns the dtype in which a tensor's values are written: f16, f32, int8 and int32 as they are, other dtypes as f32.
graph::DType npy_dtype(graph::DType);

/// Returns the contents of a .npy file with `values` in row-major order, rounded to npy_dtype of the given
/// dtype. Values that are exact in the given dtype are not changed.
std::string npy(graph::DType, const graph::Shape&, const std::vector<double>& values);

/// What a .npy file says of its elements.
struct NpyHeader {
  graph::DType dtype{};  // f16, f32, int8 or int32
  graph::Shape shape;
};

/// A .npy file that is read no further than its header declares: reading from a pipe never waits for more
/// bytes than needed, except for one byte that detects too long a file. It must be row-major, with elements of <f2, <f4,
/// |i1 or <i4.
class NpyFile {
 public:
  /// Opens a .npy file and reads its header. Throws Error if there is no valid one.
  explicit NpyFile(const std::string& file);
  graph::DType dtype() const { return header_.dtype; }
  const graph::Shape& shape() const { return header_.shape; }
  /// Reads and returns the elements; call it once. Throws Error if the file has more or fewer bytes than they need.
  std::vector<double> values();

 private:
  FileReader file_;
  std::string where_;
  std::size_t header_bytes_ = 0;
  NpyHeader header_;
};

}  // namespace zellige::run
