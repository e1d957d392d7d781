// Sizes of a call: found in the shapes of its tensors, or given; and the manifests of launches with them, which are kept.
//
//   const std::vector<std::int64_t> sizes = sizes_of_call(manifest, signature, inputs, outputs, &known);
//   const std::shared_ptr<const manifest::Manifest> launch = launches.at(sizes);   // its grid, extents, workspace and scalars
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "api/arguments.hpp"

namespace zellige::api {

/// Returns the sizes that the shapes of a call's tensors have. Throws Error, with both values and where each came from, if two
/// tensors disagree; if a size is out of its range; or if no tensor has it. `untrusted`: as of check_arguments().
std::vector<std::int64_t> sizes_of_call(const manifest::Manifest&, const Signature&,
                                        std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs,
                                        ReadablePages* untrusted);

/// The manifests of a program's launches, by their sizes. Keeps those of the last launches. Thread-safe.
class LaunchManifests {
 public:
  explicit LaunchManifests(const manifest::Manifest& of) : of_(of) {}
  /// Returns the manifest of a launch with these sizes: of a program without sizes, its own. Throws Error as
  /// manifest::check_sizes() does.
  std::shared_ptr<const manifest::Manifest> at(std::span<const std::int64_t> sizes);

 private:
  static constexpr std::size_t maximum = 64;
  struct Kept {
    std::shared_ptr<manifest::Manifest> manifest;
    const manifest::Manifest* variant;  // of which it is a launch
    std::uint64_t used = 0;             // number of the last call that used it
  };

  const manifest::Manifest& of_;
  std::mutex mutex_;
  std::map<std::vector<std::int64_t>, Kept> kept_;
  std::uint64_t calls_ = 0;
};

}  // namespace zellige::api
