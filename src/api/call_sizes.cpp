#include "api/call_sizes.hpp"

#include <algorithm>

#include "manifest/launch_sizes.hpp"
#include "manifest/variants.hpp"
#include "tile/found_sizes.hpp"

namespace zellige::api {
std::vector<std::int64_t> sizes_of_call(const manifest::Manifest& m, const Signature& s,
                                        std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs,
                                        ReadablePages* untrusted) {
  if (m.sizes.empty()) return {};
  std::vector<tile::FoundExtent> extents;
  const auto add = [&](const std::vector<int>& list, std::span<const zellige_tensor> tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const manifest::TensorPlace& t = m.tensors[static_cast<std::size_t>(list[i])];
      const std::span<const std::int64_t> shape = shape_of(m, t, tensors[i], untrusted);
      if (shape.size() != t.shape.size()) mistake(m, t, "expected rank {}, found {}", t.shape.size(), shape.size());
      for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        if (const auto e = m.sized.find({manifest::SizedField::extent, list[i], 0, d}); e != m.sized.end())
          extents.push_back({&e->second, shape[static_cast<std::size_t>(d)], role(t), t.name, d});
    }
  };
  add(s.inputs, inputs), add(s.outputs, outputs);
  return tile::found_sizes({"program", m.name, m.sizes}, extents, "; zellige_program_launch_sizes takes its value");
}

std::shared_ptr<const manifest::Manifest> LaunchManifests::at(std::span<const std::int64_t> sizes) {
  if (of_.sizes.empty() && sizes.empty()) return {std::shared_ptr<void>(), &of_};
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> key(sizes.begin(), sizes.end());
  if (const auto kept = kept_.find(key); kept != kept_.end()) {
    kept->second.used = ++calls_;
    return kept->second.manifest;
  }
  manifest::check_sizes(of_, sizes);
  const manifest::Manifest& variant = manifest::variant_at(of_, sizes);
  std::shared_ptr<manifest::Manifest> made;
  if (kept_.size() >= maximum) {  // takes the place of the one that was used longest ago
    const auto oldest = std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.used; });
    if (oldest->second.manifest.use_count() == 1 && oldest->second.variant == &variant)
      made = std::move(oldest->second.manifest);
    kept_.erase(oldest);
  }
  if (made)
    manifest::set_sizes(*made, of_, sizes);
  else
    made = std::make_shared<manifest::Manifest>(manifest::at_sizes(of_, sizes));
  kept_.emplace(std::move(key), Kept{made, &variant, ++calls_});
  return made;
}

}  // namespace zellige::api
