// Defines what each_batch.hpp declares.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/core/error.hpp>
#include "each_batch.hpp"

namespace flowgraph::detail {
inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF std::vector<fit_value> mean_of_batches(const std::vector<std::string>& names,
                                                            callback<void(add_batch)> all, after_batch after) {
  std::vector<fit_value> sums;
  for (const std::string& name : names) sums.push_back({name, 0});
  double rows = 0;
  const auto means = [&] {
    std::vector<fit_value> values = sums;
    for (fit_value& v : values) v.value /= rows;
    return values;
  };
  all([&](std::int64_t more, const std::vector<double>& numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) sums[i].value += static_cast<double>(more) * numbers[i];
    rows += static_cast<double>(more);
    after(more, means);
  });
  // A file without rows, or batch(n, last_batch::drop) of fewer.
  if (rows == 0) throw argument_error(problem::fit_argument, "fit: expected at least 1 row an epoch, got 0");
  return means();
}

FLOWGRAPH_OTHER_HALF void add_values(std::vector<fit_value>& to, const std::vector<std::string>& names,
                                     const std::vector<double>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) to.push_back({names[i], numbers[i]});
}

FLOWGRAPH_OTHER_HALF void require_rows(std::int64_t rows) {
  if (rows == 0)
    throw argument_error(
        problem::fit_argument,
        "fit: expected at least 1 row in each batch, got an empty one: the mean over it is not a number");
}

FLOWGRAPH_OTHER_HALF void require_values(std::size_t given, const std::vector<std::string>& names) {
  if (given != names.size())
    throw argument_error(problem::fit_argument, {"fit: expected ", std::to_string(names.size()),
                                                 " values, as many as names, got ", std::to_string(given)});
}

FLOWGRAPH_OTHER_HALF std::vector<std::string> names_of_values(const graph_view& g,
                                                              std::initializer_list<std::string_view> fetches) {
  std::vector<std::string> all;
  for (const std::string_view name : fetches)
    if (g.nodes[g.find(name)].type != dtype::none) all.emplace_back(name);
  return all;
}

}  // namespace FLOWGRAPH_HALF
}  // namespace flowgraph::detail
