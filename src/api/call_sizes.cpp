#include "api/call_sizes.hpp"

#include <algorithm>
#include <optional>

#include "emit/launch_sizes.hpp"
#include "emit/variants.hpp"
#include "graph/error.hpp"

namespace zellige::api {
namespace {

/// The value of a size, and the dimension of a tensor that has it.
struct FoundSize {
  std::int64_t value;
  const emit::TensorPlace* tensor;
  int dim;
  std::string origin() const { return fmt::format("dimension {} of {} {}", dim, role(*tensor), tensor->name); }
};

/// A dimension of a caller's tensor whose extent is an expression of sizes.
struct NamedExtent {
  const emit::TensorPlace* tensor;
  int dim;
  const tile::SizeExpression* is;
  std::int64_t found;
};

/// Finds the sizes that dimensions have.
class SizesOfCall {
 public:
  explicit SizesOfCall(const emit::Manifest& m) : m_(m), found_(m.sizes.size()) {}

  void add(const NamedExtent& e) { extents_.push_back(e); }

  std::vector<std::int64_t> values() {
    for (const NamedExtent& e : extents_)
      if (const int size = e.is->as_size(); size >= 0) named(e, size);
    for (bool more = true; more;) {
      more = false;
      for (const NamedExtent& e : extents_) more = solved(e) || more;
    }
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i])
        fail("program {}: no tensor's shape has {} alone; zellige_program_launch_sizes takes its value", m_.name,
             m_.sizes[i].name);
      all.push_back(found_[i]->value);
    }
    for (std::size_t i = 0; i < all.size(); ++i) emit::check_size(m_, i, all[i], [&] { return found_[i]->origin(); });
    for (const NamedExtent& e : extents_) check(e, all);
    return all;
  }

 private:
  void named(const NamedExtent& e, int size) {
    std::optional<FoundSize>& before = found_[static_cast<std::size_t>(size)];
    const FoundSize here{e.found, e.tensor, e.dim};
    if (before && before->value != here.value)
      fail("program {}: {} is {}, {}, and {}, {}", m_.name, m_.sizes[static_cast<std::size_t>(size)].name,
           before->value, before->origin(), here.value, here.origin());
    if (!before) before = here;
  }

  /// Sets the only unknown size of an extent, which is a multiple of it and a constant. Returns false if there is none.
  bool solved(const NamedExtent& e) {
    int unknown = -1;
    std::vector<std::int64_t> values(found_.size(), 0);
    for (const int size : e.is->sizes())
      if (found_[static_cast<std::size_t>(size)])
        values[static_cast<std::size_t>(size)] = found_[static_cast<std::size_t>(size)]->value;
      else if (unknown >= 0)
        return false;
      else
        unknown = size;
    if (unknown < 0) return false;
    std::int64_t& value = values[static_cast<std::size_t>(unknown)];
    const std::int64_t begin = e.is->at(values);
    value = 1;
    const std::int64_t step = e.is->at(values) - begin;
    if (step == 0 || (e.found - begin) % step != 0)
      mistake(m_, *e.tensor, "expected {} elements along dimension {}, found {}", e.is->text(m_.sizes), e.dim, e.found);
    found_[static_cast<std::size_t>(unknown)] = {(e.found - begin) / step, e.tensor, e.dim};
    return true;
  }

  void check(const NamedExtent& e, const std::vector<std::int64_t>& values) const {
    const std::int64_t right = e.is->at(values);
    if (right == e.found) return;
    std::string because;
    for (const int size : e.is->sizes())
      because += fmt::format("; {} is {}, {}", m_.sizes[static_cast<std::size_t>(size)].name,
                             values[static_cast<std::size_t>(size)], found_[static_cast<std::size_t>(size)]->origin());
    mistake(m_, *e.tensor, "expected {} = {} elements along dimension {}, found {}{}", e.is->text(m_.sizes), right,
            e.dim, e.found, because);
  }

  const emit::Manifest& m_;
  std::vector<std::optional<FoundSize>> found_;
  std::vector<NamedExtent> extents_;
};

}  // namespace

std::vector<std::int64_t> sizes_of_call(const emit::Manifest& m, const Signature& s,
                                        std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs,
                                        ReadablePages* untrusted) {
  if (m.sizes.empty()) return {};
  SizesOfCall sizes(m);
  const auto add = [&](const std::vector<int>& list, std::span<const zellige_tensor> tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const emit::TensorPlace& t = m.tensors[static_cast<std::size_t>(list[i])];
      const std::span<const std::int64_t> shape = shape_of(m, t, tensors[i], untrusted);
      if (shape.size() != t.shape.size()) mistake(m, t, "expected rank {}, found {}", t.shape.size(), shape.size());
      for (int d = 0; d < static_cast<int>(shape.size()); ++d)
        if (const auto e = m.sized.find({emit::SizedField::extent, list[i], 0, d}); e != m.sized.end())
          sizes.add({&t, d, &e->second, shape[static_cast<std::size_t>(d)]});
    }
  };
  add(s.inputs, inputs), add(s.outputs, outputs);
  return sizes.values();
}

std::shared_ptr<const emit::Manifest> LaunchManifests::at(std::span<const std::int64_t> sizes) {
  if (of_.sizes.empty() && sizes.empty()) return {std::shared_ptr<void>(), &of_};
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> key(sizes.begin(), sizes.end());
  if (const auto kept = kept_.find(key); kept != kept_.end()) {
    kept->second.used = ++calls_;
    return kept->second.manifest;
  }
  emit::check_sizes(of_, sizes);
  const emit::Manifest& variant = emit::variant_at(of_, sizes);
  std::shared_ptr<emit::Manifest> made;
  if (kept_.size() >= maximum) {  // takes the place of the one that was used longest ago
    const auto oldest = std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.used; });
    if (oldest->second.manifest.use_count() == 1 && oldest->second.variant == &variant)
      made = std::move(oldest->second.manifest);
    kept_.erase(oldest);
  }
  if (made)
    emit::set_sizes(*made, of_, sizes);
  else
    made = std::make_shared<emit::Manifest>(emit::at_sizes(of_, sizes));
  kept_.emplace(std::move(key), Kept{made, &variant, ++calls_});
  return made;
}

}  // namespace zellige::api
