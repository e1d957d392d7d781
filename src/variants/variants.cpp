#include "variants/variants.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace zellige::variants {
namespace {

/// Chooses the parts that a program has.
class VariantChoice {
 public:
  VariantChoice(ValueParts& parts, int maximum) : parts_(parts), maximum_(static_cast<std::size_t>(maximum)) {}

  /// Returns the whole program with the other parts that are selected.
  emit::EmittedProgram run() {
    choose(), align();
    std::vector<emit::EmittedProgram> variants;
    for (const std::size_t part : selected_)
      if (part != 0) variants.push_back(std::move(parts_.all()[part].program));
    emit::EmittedProgram whole = std::move(parts_.all()[0].program);
    return variants.empty() ? std::move(whole) : emit::with_variants(std::move(whole), std::move(variants));
  }

 private:
  /// Returns the sum, over all points, of the weighted logarithm of the time of the first of these parts that has the point.
  double score(std::vector<std::size_t> selected) const {
    sort(selected);
    double all = 0;
    for (std::size_t p = 0; p < parts_.points().size(); ++p)
      for (const std::size_t part : selected)
        if (std::isfinite(parts_.all()[part].us[p])) {
          all += parts_.points()[p].weight * std::log(parts_.all()[part].us[p]);
          break;
        }
    return all;
  }

  /// Puts parts in the order in which a launch tries them: smaller ones first.
  void sort(std::vector<std::size_t>& selected) const {
    std::ranges::stable_sort(selected, {}, [&](std::size_t part) { return parts_.all()[part].count(); });
  }

  /// Chooses parts, the whole one among them: always the one that saves most, as long as that is worth its kernels.
  void choose() {
    constexpr double worth = 0.02;  // of the time at one point
    const auto programs = [&](std::size_t part) { return parts_.may_align(parts_.all()[part]) ? 2U : 1U; };
    selected_ = {0};
    for (std::size_t left = maximum_ - std::min<std::size_t>(maximum_, programs(0));;) {
      double best = score(selected_) - worth;
      std::optional<std::size_t> taken;
      for (std::size_t part = 1; part < parts_.all().size(); ++part) {
        if (programs(part) > left || std::ranges::count(selected_, part) > 0) continue;
        std::vector<std::size_t> with = selected_;
        with.push_back(part);
        if (const double then = score(with); then < best) best = then, taken = part;
      }
      if (!taken) break;
      selected_.push_back(*taken), left -= programs(*taken);
    }
    sort(selected_);
  }

  /// Puts before a part another one for those of its values at which rows begin at multiples of a vector, if that is faster.
  void align() {
    std::vector<std::size_t> all;
    for (std::size_t i = selected_.size(); i-- > 0;) {  // the largest part first
      const std::size_t part = selected_[i];
      all.insert(all.begin(), part);
      if (!parts_.may_align(parts_.all()[part]) || all.size() + i >= maximum_)
        continue;  // with the smaller ones that follow
      std::optional<SizedPart> aligned = parts_.aligned(parts_.all()[part]);
      if (!aligned) continue;
      parts_.all().push_back(*std::move(aligned));
      all.insert(all.begin(), parts_.all().size() - 1);
    }
    selected_ = std::move(all);
  }

  ValueParts& parts_;
  const std::size_t maximum_;
  std::vector<std::size_t> selected_;  // parts, in the order in which a launch tries them
};

}  // namespace

emit::EmittedProgram with_variants(emit::EmittedProgram whole, const graph::KernelGraph& g,
                                   const target::Target& target, int maximum, const CompileNarrowed& compile) {
  if (maximum < 2 || whole.manifest.sizes.empty()) return whole;
  ValueParts parts(g, target, std::move(whole), compile);
  return VariantChoice(parts, maximum).run();
}

}  // namespace zellige::variants
