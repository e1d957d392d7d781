// What a call of a program was like that has passed all checks: a call like it needs only those of its addresses.
//
//   if (const auto form = forms.find(inputs, outputs)) check_addresses(form->launch(), ...);
//   else forms.keep(std::make_shared<CallForm>(launch, device, inputs, outputs));
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "api/launcher.hpp"
#include "manifest/manifest.hpp"
#include "zellige/api.h"

namespace zellige::api {

/// Everything about the tensors of a call on a GPU but their addresses, and the launch that it was.
class CallForm {
 public:
  /// `launch`: the manifest of the call. `device`: the GPU.
  CallForm(std::shared_ptr<const manifest::Manifest> launch, int device, std::span<const zellige_tensor> inputs,
           std::span<const zellige_tensor> outputs);
  /// Returns whether the tensors of a call differ from this form's in their addresses alone.
  bool is_of(std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs) const;
  const manifest::Manifest& launch() const { return *launch_; }
  int device() const { return device_; }
  KeptLaunch& kept() { return kept_; }

 private:
  const std::shared_ptr<const manifest::Manifest> launch_;
  const int device_;
  std::vector<std::int64_t> numbers_;  // of each tensor its device, dtype, rank, shape and strides
  KeptLaunch kept_;
};

/// The forms of the last calls of a program. Thread-safe.
class CallForms {
 public:
  /// Returns the form that a call has; nullptr if none is kept.
  std::shared_ptr<CallForm> find(std::span<const zellige_tensor> inputs, std::span<const zellige_tensor> outputs);
  void keep(std::shared_ptr<CallForm>);

 private:
  static constexpr std::size_t maximum = 32;  // they are looked at one after the other
  std::mutex mutex_;
  std::vector<std::shared_ptr<CallForm>> kept_;  // the one of the last call first
};

}  // namespace zellige::api
