#include "api/call_form.hpp"

#include <algorithm>

namespace zellige::api {
namespace {

/// Returns whether extents or strides are where numbers can be.
bool may_be(const std::int64_t* numbers) {
  return numbers && reinterpret_cast<std::uintptr_t>(numbers) % alignof(std::int64_t) == 0;
}

/// Calls visit(number) for each number of a tensor, until it returns false. Returns whether it never did, and the tensor has numbers.
template <class Visit>
bool each_number(const zellige_tensor& t, const Visit& visit) {
  if (!visit(std::int64_t{t.device_type} << 32 | static_cast<std::uint32_t>(t.device_id))) return false;
  if (!visit(std::int64_t{t.rank} << 32 | std::int64_t{t.dtype_code} << 24 | std::int64_t{t.dtype_bits} << 16 |
             t.dtype_lanes))
    return false;
  if (!visit(t.strides != nullptr)) return false;
  if (t.rank > 0 && (!may_be(t.shape) || (t.strides && !may_be(t.strides)))) return false;
  for (std::int32_t d = 0; d < t.rank; ++d)
    if (!visit(t.shape[d]) || (t.strides && !visit(t.strides[d]))) return false;
  return true;
}

}  // namespace

CallForm::CallForm(std::shared_ptr<const manifest::Manifest> launch, int device, std::span<const zellige_tensor> inputs,
                   std::span<const zellige_tensor> outputs)
    : launch_(std::move(launch)), device_(device) {
  for (const auto tensors : {inputs, outputs})
    for (const zellige_tensor& t : tensors) each_number(t, [&](std::int64_t n) { return numbers_.push_back(n), true; });
}

bool CallForm::is_of(std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs) const {
  auto at = numbers_.begin();
  const auto same = [&](std::int64_t n) { return at != numbers_.end() && *at++ == n; };
  for (const auto tensors : {inputs, outputs})
    for (const zellige_tensor& t : tensors)
      if (!each_number(t, same)) return false;
  return at == numbers_.end();
}

std::shared_ptr<CallForm> CallForms::find(std::span<const zellige_tensor> inputs,
                                          std::span<const zellige_tensor> outputs) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(kept_, [&](const auto& form) { return form->is_of(inputs, outputs); });
  if (found == kept_.end()) return nullptr;
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front();
}

void CallForms::keep(std::shared_ptr<CallForm> form) {
  const std::lock_guard lock(mutex_);
  if (kept_.size() == maximum) kept_.pop_back();
  kept_.insert(kept_.begin(), std::move(form));
}

}  // namespace zellige::api
