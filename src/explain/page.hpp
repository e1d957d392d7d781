// An account as one page of HTML that needs no other file and no network.
#pragma once
#include <optional>
#include <string>

#include "explain/account.hpp"

namespace zellige::explain {

/// Returns the page. `against`: an account to compare it with.
std::string page(const Account&, const std::optional<Account>& against = std::nullopt);

}  // namespace zellige::explain
