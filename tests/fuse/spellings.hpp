// Spells a graph in another way: applies rules backwards, each of which writes an operator as others with the
// same meaning, as a model's author might.
//
//   KernelGraph other = spelled(g, seed)   // e.g. silu(x) has become x * sigmoid(x)
//
// Each rule is a row of spelling_rules(); spellings_test.cpp proves each with `equal`.
#pragma once
#include <cstdint>
#include <span>

#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::fuse {

/// A rule that is applied backwards.
struct SpellingRule {
  std::string_view name, condition;
  rewrite::OfOperator* apply;
};

/// Returns all rules that are applied backwards.
std::span<const SpellingRule> spelling_rules();

/// Returns the rules whose results may be rounded otherwise, or differ where a row is -inf alone. Their prices may
/// differ. A rule's condition is the reason.
std::span<const SpellingRule> differing_rules();

/// Returns those of both that are about views and products (spellings_of_products.cpp).
std::span<const SpellingRule> product_spellings();
std::span<const SpellingRule> differing_product_spellings();

/// Returns the graph with a rule applied to every operator that it fits.
graph::KernelGraph spelled_by(const SpellingRule&, const graph::KernelGraph&);

/// Returns the graph with rules drawn at random, some of them applied to what others made. `names` receives
/// the names of the rules that were applied, if it is not nullptr.
graph::KernelGraph spelled(graph::KernelGraph, std::uint64_t seed, std::vector<std::string>* names = nullptr);

}  // namespace zellige::fuse
