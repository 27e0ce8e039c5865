// A plan with everything that does not change from step to step: kernels, programs of fused instructions, constants
// and literals in memory, the names behind its extents.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <flowgraph/kernels/cpu/binding.hpp>
#include <flowgraph/kernels/cpu/fused.hpp>
#include <flowgraph/kernels/cpu/sources.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include <flowgraph/plan/fused.hpp>
#include <flowgraph/plan/plan.hpp>
#include "ndarray.hpp"
#include "text.hpp"

namespace flowgraph::detail {

constexpr kernel_use use_of(const plan_view& p, const instruction& x) {
  kernel_use use{x.op->id, {}, dtype::none};
  for (int i = 0; i < x.n_operands && i < kernel_use::max_types; ++i) use.in[i] = p.operands[x.operands + i].type;
  if (x.n_outputs > 0) use.out = p.operands[x.operands + x.n_operands].type;
  return use;
}

// The type of a register of a program.
constexpr dtype register_type(const plan_view& p, const instruction& x, int r) {
  return r < 0 ? p.operands[x.operands - 1 - r].type : p.steps[p.programs[x.program].steps + r].type;
}

constexpr kernel_use use_of(const plan_view& p, const instruction& x, const program_step& s) {
  kernel_use use{s.op->id, {}, s.type};
  for (int i = 0; i < s.n_inputs && i < kernel_use::max_types; ++i)
    use.in[i] = register_type(p, x, p.registers[s.inputs + i]);
  return use;
}

// Does it take a value, or the news that something is done, from one device to another?
constexpr bool carries(const instruction& x) { return x.op->id == ops::send::id || x.op->id == ops::recv::id; }

// What an instruction runs: a kernel, or a program over tiles.
struct code {
  kernel_function kernel = nullptr;
  int program = -1;
};

class executable {
 public:
  // resolve(kernel_use) gives a bound_kernel. The plan and the graph's ops outlive this.
  template <class Resolve>
  executable(const plan_view& plan, const graph_view& g, const Resolve& resolve) : plan_(plan) {
    for (const instruction& x : plan.instructions) {
      if (x.program != 0)
        add_program(x, g, resolve);
      else if (carries(x))  // between devices that share their memory
        code_.push_back({x.n_operands + x.n_outputs > 0 ? &copy_kernel : &cpu_kernel<ops::group>::run, -1});
      else
        add_kernel(x, g, resolve);
    }
    for (const constant_use& c : plan.constants) {
      std::int64_t& element = constants_.emplace_back();
      with_type(c.type, [&]<class T>(T) {
        const T value = convert<T>(c.value);
        std::memcpy(&element, &value, sizeof(T));
      });
    }
    for (const literal_use& l : plan.literals) {
      literals_.push_back(allocate_aligned<std::byte>(static_cast<std::size_t>(l.n_words * size_of(l.type))));
      with_type(l.type, [&]<class T>(T) {
        T* to = reinterpret_cast<T*>(literals_.back().get());
        for (int i = 0; i < l.n_words; ++i) to[i] = from_word<T>(plan.words[l.words + i]);
      });
    }
    for (int i = 0; i < plan.symbols.size(); ++i) add_names(plan.text(plan.symbols[i]));
  }
  executable(const executable&) = delete;
  executable& operator=(const executable&) = delete;

  const plan_view& plan() const { return plan_; }
  const code& code_of(int i) const { return code_[static_cast<std::size_t>(i)]; }
  const tile_program& program(int i) const { return programs_[static_cast<std::size_t>(i)]; }
  void* constant(int i) const { return const_cast<std::int64_t*>(&constants_[static_cast<std::size_t>(i)]); }
  void* literal(int i) const { return literals_[static_cast<std::size_t>(i)].get(); }
  // The names that extents are made of: batch, time.
  const std::vector<std::string_view>& names() const { return names_; }

 private:
  template <class Resolve>
  static bound_kernel find(const Resolve& resolve, const kernel_use& use, const op_def& op, const graph_view& g,
                           int node, bool in_program = false) {
    const bound_kernel k = op.kernel != nullptr ? bound_kernel(op.kernel) : resolve(use);
    if (in_program ? k.is == bound_kernel::kind::tile : static_cast<bool>(k)) return k;
    if (op.is(trait::view)) return &copy_kernel;
    const dtype type = use.in[0] == dtype::none ? use.out : use.in[0];
    throw plan_error(problem::no_kernel, fmt::format("{} ({}): {} has no kernel for {} on the CPU", label_of(g, node),
                                                     line_text(g, node), op.name, name_of(type)));
  }

  template <class Resolve>
  void add_kernel(const instruction& x, const graph_view& g, const Resolve& resolve) {
    const bound_kernel k = find(resolve, use_of(plan_, x), *x.op, g, x.node);
    if (k.is == bound_kernel::kind::kernel) {
      code_.push_back({k.kernel, -1});
      return;
    }
    tile_program p;  // of one step
    p.n_operands = x.n_operands;
    p.n_steps = 1;
    p.steps[0].run = k.tile;
    p.steps[0].n_in = x.n_operands;
    int widest = size_of(plan_.outputs(x)[0].type);
    for (int i = 0; i < x.n_operands; ++i) {
      p.steps[0].in[i] = -1 - i;
      widest = std::max(widest, size_of(plan_.inputs(x)[i].type));
    }
    add(p, widest);
  }

  template <class Resolve>
  void add_program(const instruction& x, const graph_view& g, const Resolve& resolve) {
    tile_program p;
    p.n_operands = x.n_operands;
    int widest = 1;
    for (const operand& o : plan_.inputs(x)) widest = std::max(widest, size_of(o.type));
    for (const program_step& s : plan_.steps_of(plan_.programs[x.program])) {
      tile_program::step& to = p.steps[p.n_steps++];
      to.run = find(resolve, use_of(plan_, x, s), *s.op, g, x.node, true).tile;
      to.n_in = s.n_inputs;
      for (int i = 0; i < s.n_inputs; ++i) to.in[i] = plan_.registers[s.inputs + i];
      widest = std::max(widest, size_of(s.type));
    }
    add(p, widest);
  }
  void add(tile_program& p, int widest) {
    p.assign_tiles(widest);
    code_.push_back({nullptr, static_cast<int>(programs_.size())});
    programs_.push_back(p);
  }

  // The words in "2*batch+(time+1)/2".
  void add_names(std::string_view text) {
    const auto in_name = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
    };
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && in_name(text[end])) ++end;
      const std::string_view word = text.substr(i, end - i);
      if (!word.empty() && !(word[0] >= '0' && word[0] <= '9') &&
          std::find(names_.begin(), names_.end(), word) == names_.end())
        names_.push_back(word);
      i = std::max(end, i + 1);
    }
  }

  plan_view plan_;
  std::vector<code> code_;
  std::vector<tile_program> programs_;
  std::vector<std::int64_t> constants_;  // one element each, whatever its type
  std::vector<aligned_buffer<std::byte>> literals_;
  std::vector<std::string_view> names_;
};

}  // namespace flowgraph::detail
