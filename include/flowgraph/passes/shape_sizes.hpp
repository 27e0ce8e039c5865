// Sizes of shapes before names are bound to numbers, each found once.
#pragma once
#include "draft.hpp"

namespace flowgraph::passes {

// How many elements each shape has: a number times a symbol.
class shape_sizes {
 public:
  struct size {
    std::int64_t count = 0;
    extent by = 1;
  };

  constexpr explicit shape_sizes(plan_data& p) : p_(p), sizes_(p.shapes.count) {
    for (const text_range t : p.symbols)
      symbols_.intern(flowgraph::detail::text_view(p.chars.data + t.begin, t.length));
  }
  constexpr const size& of(int shape) {
    size& s = sizes_[shape];
    if (s.count != 0) return s;
    s = {1, 1};
    for (int i = 0; i < p_.shapes[shape].rank; ++i) {
      const extent e = p_.dims[p_.shapes[shape].dims + i];
      if (e >= 0)
        s.count *= e;
      else
        s.by = symbols_.mul(s.by, e);
    }
    return s;
  }
  // Products that only sizes need, such as batch*time, become symbols of the plan.
  constexpr void add_symbols() {
    for (int i = p_.symbols.size(); i < symbols_.size(); ++i) {
      const std::string_view text = symbols_.text(-1 - i);
      p_.symbols.push({p_.chars.size(), static_cast<int>(text.size())});
      for (const char c : text) p_.chars.push(c);
    }
  }

 private:
  plan_data& p_;
  symbols symbols_;
  detail::vec<size> sizes_;
};

}  // namespace flowgraph::passes
