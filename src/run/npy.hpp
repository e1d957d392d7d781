// Reads and writes NumPy's .npy files, version 1.0, little-endian and row-major.
//
//   write_whole("x.npy", npy(DType::f16, {2, 4096}, values));   // numpy.load("x.npy").dtype == float16
//
// NumPy has no bfloat16, e4m3 and e5m2; such values are written as float32, which represents them exactly.
//
// Reads the input tensors of a run that the user provides as such files, too.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/rows.hpp"
#include "reference/array.hpp"
#include "reference/inputs.hpp"
#include "system/files.hpp"

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
  system::FileReader file_;
  std::string where_;
  std::size_t header_bytes_ = 0;
  NpyHeader header_;
};

/// Pairs of an input's name and a file, as --input takes them.
using InputFiles = std::vector<std::pair<std::string, std::string>>;

/// Returns the position of the input `name` among the graph's inputs. Throws Error if there is none; `option` says in
/// the message who names it, such as "--input gives".
std::size_t input_named(const graph::KernelGraph&, const std::string& name, std::string_view option);

/// Checks the values of an input that a gather or scatter reads as row indices. Throws Error if an index is
/// not below Numbers::rows, or if an index occurs twice although Numbers::distinct is true, as for a scatter.
/// `which` names the input in messages. Checks every index, because a sampled check of the outputs might not depend on
/// the wrong ones.
void check_numbers(const graph::Numbers&, const reference::Array&, const std::string& which);

/// Returns the input tensors that are read from .npy files. Throws Error if InputFiles names an input that the graph
/// lacks, if a file cannot be read, if its dtype or shape is not the input's, or if check_numbers throws. For a dtype
/// that NumPy lacks, such as bfloat16, the file must hold float32, whose values are rounded to the input's dtype.
reference::GivenInputs given_inputs(const graph::KernelGraph&, const InputFiles&);

}  // namespace zellige::run
