// What the parts of a page are made of: escaped strings, tables, and drawings as SVG in the page's own colours.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "explain/account.hpp"

namespace zellige::explain {

/// Returns the string with &, <, > and " escaped.
std::string escaped(std::string_view text);

/// Returns lines of code in which each identifier of `ids` is a link to the place where it is explained, `prefix` and the identifier.
std::string linked(std::string_view code, const std::set<std::string>& ids, const std::string& prefix);

/// Returns the rows as a table with a heading for each column; numbers are aligned to the right.
std::string table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows,
                  const std::string& caption);

/// Returns bars of the resources' times, the longest of which takes the width.
std::string resource_bars(const LaunchAccount&);
/// Returns the operators of a graph as boxes, with the tensors between them; "" if there are more than 40.
std::string graph_svg(const GraphAccount&);
/// Returns who works, waits, and has copies in flight; "" if nothing does.
std::string timeline_svg(const Timeline&);
/// Returns which bytes of shared memory are in use along the lines of the plan.
std::string memory_svg(const KernelAccount&, std::int64_t bytes);
/// Returns the first rows of a tile, coloured by the banks where their parts of 16 bytes lie.
std::string bank_svg(const SharedAccount&);

/// Returns the first rows and columns of a tile in registers: the thread of each element, with the number of its value.
std::string holder_svg(const RegisterAccount&);

/// Returns the style sheet and the script of every page.
std::string_view style();
std::string_view script();

}  // namespace zellige::explain
