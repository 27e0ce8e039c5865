// Which tensor of a file belongs to which variable: all of them are compared before anything is read, and one error
// lists everything that does not fit.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <flowgraph/formats/safetensors.hpp>
#include <flowgraph/formats/safetensors_header.hpp>
#include "checkpoint_error.hpp"

namespace flowgraph::detail {

struct wanted_tensor {
  std::string name;  // in the file
  dtype type = dtype::none;
  std::vector<std::int64_t> dims;
  bool restored = true;  // false: it may be in the file, and is left alone
};

struct match_options {
  bool allow_missing = false, allow_extra = false;
};

// For each of those wanted the tensor of the file; null: leave it alone. Throws checkpoint_error.
inline std::vector<const stored_tensor*> match_tensors(const safetensors_file& file,
                                                       std::span<const wanted_tensor> wanted, const match_options& o) {
  std::vector<const stored_tensor*> matched;
  std::vector<std::string> mismatches;
  std::unordered_set<std::string_view> restored, known;
  for (const wanted_tensor& w : wanted) {
    matched.push_back(nullptr);
    known.insert(w.name);
    if (!w.restored) continue;
    if (!restored.insert(w.name).second)
      mismatches.push_back(fmt::format("\"{}\": two variables are called so", w.name));
    const std::string expected = stored_text(stored_type_of(w.type)->name, w.dims);
    const stored_tensor* const t = file.find(w.name);
    if (t == nullptr) {
      if (!o.allow_missing) mismatches.push_back(fmt::format("\"{}\": expected {}, got none", w.name, expected));
      continue;
    }
    const bool fits =
        t->type == w.type && std::equal(t->dims.begin(), t->dims.end(), w.dims.begin(), w.dims.end(),
                                        [](std::uint64_t a, std::int64_t b) { return std::cmp_equal(a, b); });
    if (!fits)
      mismatches.push_back(
          fmt::format("\"{}\": expected {}, got {}", w.name, expected, stored_text(t->type_name, t->dims)));
    matched.back() = t;
  }
  if (!o.allow_extra)
    for (const stored_tensor& t : file.tensors())
      if (!known.contains(t.name))
        mismatches.push_back(
            fmt::format("\"{}\": no variable is called so, got {}", t.name, stored_text(t.type_name, t.dims)));
  if (!mismatches.empty()) throw checkpoint_error(file.path().string(), std::move(mismatches));
  return matched;
}

}  // namespace flowgraph::detail
