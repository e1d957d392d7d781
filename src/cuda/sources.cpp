#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cuda/program.hpp"
#include "cuda/rewrite.hpp"
#include "system/files.hpp"

namespace zellige::cuda {

namespace {

namespace fs = std::filesystem;

// Headers of CUDA whose content the prelude has.
constexpr const char* own_headers[] = {"cuda_runtime.h",
                                       "cuda_runtime_api.h",
                                       "cuda_pipeline.h",
                                       "cuda_pipeline_primitives.h",
                                       "device_launch_parameters.h",
                                       "cooperative_groups.h",
                                       "vector_types.h",
                                       "device_functions.h",
                                       "sm_30_intrinsics.h",
                                       "cooperative_groups/reduce.h",
                                       "cuda_device_runtime_api.h",
                                       "driver_types.h",
                                       "vector_functions.h",
                                       "device_atomic_functions.h",
                                       "math_functions.h",
                                       "host_defines.h",
                                       "crt/host_defines.h",
                                       "builtin_types.h",
                                       "cuda_profiler_api.h",
                                       "cuda_awbarrier.h",
                                       "cuda_awbarrier_primitives.h",
                                       "sm_32_intrinsics.h",
                                       "sm_35_intrinsics.h",
                                       "sm_60_atomic_functions.h",
                                       "sm_61_intrinsics.h",
                                       "channel_descriptor.h",
                                       "nvtx3/nvToolsExt.h",
                                       "nvToolsExt.h",
                                       "device_double_functions.h",
                                       "cuda_device_runtime_api.h",
                                       "cuda_texture_types.h",
                                       "texture_types.h",
                                       "surface_types.h",
                                       "cooperative_groups/scan.h",
                                       "cooperative_groups/details/partitioning.h",
                                       "sm_20_intrinsics.h"};

/// A header of CUDA that a header of the prelude's replaces.
struct ReplacedHeader {
  const char *name, *by;
};
constexpr ReplacedHeader replaced_headers[] = {{"cuda.h", "driver"},
                                               {"cudaTypedefs.h", "driver"},
                                               {"cuda_fp16.h", "half_math"},
                                               {"cuda_fp16.hpp", "half_math"},
                                               {"cuda_fp8.h", "float8"},
                                               {"cuda_fp8.hpp", "float8"},
                                               {"mma.h", "wmma"},
                                               {"library_types.h", "data_types"},
                                               {"cublas_v2.h", "blas"},
                                               {"cublas.h", "blas"},
                                               {"cublas_api.h", "blas"},
                                               {"cublasLt.h", "blas_lt"},
                                               {"curand.h", "random"},
                                               {"curand_kernel.h", "random"},
                                               {"cuda_bf16.h", "half_math"},
                                               {"cuda/barrier", "barrier"},
                                               {"cuda/pipeline", "staged_pipeline"},
                                               {"cuda/atomic", "atomic_ref"},
                                               {"cuda/std/atomic", "atomic_ref"},
                                               {"cooperative_groups/memcpy_async.h", "cooperative_groups"},
                                               {"cuComplex.h", "complex"},
                                               {"math_constants.h", "constants"},
                                               {"omp.h", "omp"},
                                               {"cuda/latch", "synchronization"},
                                               {"cuda/semaphore", "synchronization"},
                                               {"cuda/functional", "synchronization"},
                                               {"cuda/cmath", "synchronization"}};
/// Folders of CUDA's libraries: a header of the library takes the place of each header in the folder.
constexpr ReplacedHeader replaced_folders[] = {{"thrust/", "algorithms"}, {"cub/", "cub"}};
/// Headers that programs take from NVIDIA's samples; one next to the program or in a folder of -I comes first.
constexpr const char* helper_headers[] = {"helper_cuda.h",  "helper_functions.h", "helper_timer.h", "helper_string.h",
                                          "helper_image.h", "exception.h",        "timer.h"};
// The host's headers that CUDA's standard library has, too.
constexpr std::string_view standard_headers = "cuda/std/";

/// Returns what is included in place of a header of CUDA; nullopt if the header is none of these.
std::optional<std::string> replacement(const std::string& name) {
  const auto ours = [](std::string_view by) { return fmt::format("<zellige/cuda/{}.hpp>", by); };
  if (std::ranges::find(own_headers, name) != std::end(own_headers)) return "<cstddef>";
  if (const auto r = std::ranges::find(replaced_headers, name, &ReplacedHeader::name); r != std::end(replaced_headers))
    return ours(r->by);
  for (const ReplacedHeader& folder : replaced_folders)
    if (name.starts_with(folder.name)) return ours(folder.by);
  if (name.starts_with(standard_headers)) return "<" + name.substr(standard_headers.size()) + ">";
  return std::nullopt;
}

/// The files of a program that are translated so far.
class Translation {
 public:
  Translation(std::vector<std::string> folders, bool clusters) : has_clusters(clusters), folders_(std::move(folders)) {}

  /// Translates a file and its headers; returns the name of the file to write. folder: where #include_next looks first.
  std::string add(const fs::path& file, std::size_t folder = 0) {
    const fs::path key = fs::weakly_canonical(file);
    const auto known = names_.find(key);
    if (known != names_.end()) return known->second;
    const std::size_t index = files.size();
    const std::string name = std::to_string(index) + "_" + file.filename().string();
    names_[key] = name;
    files.push_back({name, file.string(), ""});
    Rewritten r = rewrite(system::read_whole(file), file.string(), index > 0, has_clusters);
    finds_clusters |= r.clusters;
    std::ranges::reverse(r.includes);
    std::vector<std::pair<SourceInclude, std::string>> changed;
    for (const SourceInclude& i : r.includes) {
      if (const auto other = replacement(i.name))
        changed.emplace_back(i, *other);
      else if (const auto found = find(i, file.parent_path(), i.next ? folder : 0))
        changed.emplace_back(i, "\"" + add(found->file, found->next) + "\"");
      else if (std::ranges::find(helper_headers, i.name) != std::end(helper_headers))
        changed.emplace_back(i, "<zellige/cuda/helpers.hpp>");
      else if (i.name == "helper_math.h")
        changed.emplace_back(i, "<zellige/cuda/vector_math.hpp>");
    }
    for (const auto& [i, text] : changed) r.text.replace(i.at, i.end - i.at, text);
    files[index].text = "#line 1 \"" + file.string() + "\"\n" + r.text;
    return name;
  }

  std::vector<TranslatedFile> files;
  bool has_clusters;
  bool finds_clusters = false;  // a file has __cluster_dims__

 private:
  /// A header, and the folder after the one in which it was found.
  struct Found {
    fs::path file;
    std::size_t next = 0;
  };
  std::optional<Found> find(const SourceInclude& i, const fs::path& beside, std::size_t from) const {
    // The prelude has included some of these already, and they have no inline PTX.
    for (const char* own : {"zellige/emulate/", "zellige/cuda/", "zellige/layout"})
      if (i.name.starts_with(own)) return std::nullopt;
    if (i.quoted && fs::is_regular_file(beside / i.name)) return Found{beside / i.name};
    for (std::size_t k = from; k < folders_.size(); ++k)
      if (fs::is_regular_file(fs::path(folders_[k]) / i.name)) return Found{fs::path(folders_[k]) / i.name, k + 1};
    return std::nullopt;
  }

  std::vector<std::string> folders_;
  std::map<fs::path, std::string> names_;
};

}  // namespace

std::vector<TranslatedFile> translate(const fs::path& source, const std::vector<std::string>& folders) {
  Translation all(folders, false);
  all.add(source);
  if (!all.finds_clusters) return std::move(all.files);
  Translation with_clusters(folders, true);
  with_clusters.add(source);
  return std::move(with_clusters.files);
}

}  // namespace zellige::cuda
