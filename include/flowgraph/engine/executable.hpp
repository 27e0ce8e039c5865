// A plan with everything that does not change from step to step: kernels, programs of fused instructions, constants
// and literals in memory, the names behind its extents.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <flowgraph/arrays/ndarray.hpp>
#include <flowgraph/core/convert.hpp>
#include <flowgraph/core/list.hpp>
#include <flowgraph/engine/devices/device.hpp>
#include <flowgraph/engine/step/flow.hpp>
#include <flowgraph/kernels/copy.hpp>
#include <flowgraph/kernels/cpu/fused.hpp>
#include <flowgraph/kernels/kernel_use.hpp>
#include <flowgraph/kernels/region.hpp>
#include <flowgraph/ops/send_recv.hpp>
#include <flowgraph/plan/fused.hpp>
#include <flowgraph/plan/plan.hpp>
#include "text.hpp"

namespace flowgraph::detail {

// A compiled region where one of any kind is asked for.
class region_code final : public region_kernel {
 public:
  explicit region_code(region_function f) : compute_(f) {}
  void compute(const array_view* operands, const array_view& value, void* to, std::int64_t first,
               std::int64_t last) const override {
    compute_(operands, value, to, first, last);
  }

 private:
  region_function compute_;
};

// What an instruction runs: a kernel, with the element-wise steps that belong to it.
struct code {
  kernel_function kernel = nullptr;
  const region_kernel* region = nullptr;
};

template <class Tag = void>
class basic_executable {
 public:
  // devices: those of the plan, null where it is the CPU; empty: all are. The plan and the graph's ops outlive this.
  basic_executable(const plan_view& plan, const graph_view& g, const kernel_source& kernels,
                   list<std::shared_ptr<device>> devices = {})
      : plan_(plan),
        devices_(std::move(devices)),
        flows_(plan, which_work_alone()) {
    for (int i = 0; i < plan.instructions.size(); ++i) {
      code_.push_back(make_code(i, g, kernels));
    }
    for (const constant_use& c : plan.constants) {
      std::int64_t& element = constants_.emplace_back();
      with_type(c.type, [&]<class T>(T) {
        const T value = from_word<T>(c.word);
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
    for (int i = 0; i < plan.symbols.size(); ++i)
      each_name(plan.text(plan.symbols[i]), [this](std::string_view name) {
        if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
      });
  }
  basic_executable(const basic_executable&) = delete;
  basic_executable& operator=(const basic_executable&) = delete;

  const plan_view& plan() const { return plan_; }
  // Null: the CPU.
  device* device_of(int k) const { return devices_.empty() ? nullptr : devices_[static_cast<std::size_t>(k)].get(); }
  const flow_table& flows() const { return flows_; }
  const code& code_of(int i) const { return code_[static_cast<std::size_t>(i)]; }
  void* constant(int i) const { return const_cast<std::int64_t*>(&constants_[static_cast<std::size_t>(i)]); }
  void* literal(int i) const { return literals_[static_cast<std::size_t>(i)].get(); }
  // The names that extents are made of: batch, time.
  const list<std::string_view>& names() const { return names_; }

 private:
  list<bool> which_work_alone() const {
    list<bool> all;
    for (const auto& d : devices_) all.push_back(d != nullptr);
    return all;
  }

  static bound_kernel find(const kernel_source& kernels, const kernel_use& use, const op_def& op, const graph_view& g,
                           int node, bool in_program = false) {
    bound_kernel k;
    if (op.kernel != nullptr) k = op.kernel;
    if (!k && kernels.library != nullptr) k = kernels.library(use);
    if (!k && kernels.own != nullptr) k = kernels.own(use);
    if (in_program ? k.is == bound_kernel::kind::tile : static_cast<bool>(k)) return k;
    if (op.is(trait::view)) return &copy_kernel;
    const dtype type = use.in[0] == dtype::none ? use.out : use.in[0];
    throw plan_error(problem::no_kernel, text_from({label_of(g, node), " (", line_text(g, node), "): ", op.name,
                                                    " has no kernel for ", name_of(type), " on the CPU"}));
  }

  code make_code(int i, const graph_view& g, const kernel_source& kernels) {
    const instruction& x = plan_.instructions[i];
    if (x.program != 0) {
      const region_kernel* region = compiled_region_of(i, kernels);
      if (region == nullptr) region = add_program(x, g, kernels);
      if (plan_.programs[x.program].role == program_role::all) return {&run_region, region};
      return {find(kernels, use_of(plan_, x), *x.op, g, x.node).kernel, region};
    }
    if (may_wait(x)) return {};  // a resource does it, or a channel
    if (const region_kernel* region = compiled_region_of(i, kernels)) return {&run_region, region};
    const bound_kernel k = find(kernels, use_of(plan_, x), *x.op, g, x.node);
    if (k.is == bound_kernel::kind::kernel) return {k.kernel, nullptr};
    tile_program p;  // of one step
    p.n_steps = 1;
    p.code[0].run = k.tile;
    p.code[0].n_in = x.n_operands;
    for (int n = 0; n < x.n_operands; ++n) p.code[0].in[n] = -1 - n;
    return {&run_region, add(p, x)};
  }

  const region_kernel* compiled_region_of(int i, const kernel_source& kernels) {
    const region_function f = kernels.region == nullptr ? nullptr : kernels.region(i);
    return f == nullptr ? nullptr : keep(make_owner<region_code>(f), plan_.instructions[i]);
  }

  const region_kernel* add_program(const instruction& x, const graph_view& g, const kernel_source& kernels) {
    tile_program p;
    for (const program_step& s : plan_.steps_of(plan_.programs[x.program])) {
      tile_program::step& to = p.code[p.n_steps++];
      to.run = find(kernels, use_of(plan_, x, s), *s.op, g, x.node, true).tile;
      to.n_in = s.n_inputs;
      for (int i = 0; i < s.n_inputs; ++i) to.in[i] = plan_.registers[s.inputs + i];
    }
    return add(p, x);
  }
  const region_kernel* add(tile_program& p, const instruction& x) {
    int widest = size_of(plan_.region_value(x).type);
    for (const operand& o : plan_.inputs(x)) widest = std::max(widest, size_of(o.type));
    for (const operand& o : plan_.outputs(x)) widest = std::max(widest, size_of(o.type));
    for (const program_step& s : plan_.steps_of(plan_.programs[x.program])) widest = std::max(widest, size_of(s.type));
    p.assign_tiles(widest);
    return keep(make_owner<tile_program>(p), x);
  }
  const region_kernel* keep(owner<region_kernel> region, const instruction& x) {
    region->steps = plan_.steps_of(plan_.programs[x.program]);
    region->registers = plan_.registers.data;
    return regions_.emplace_back(std::move(region)).get();
  }

  plan_view plan_;
  list<std::shared_ptr<device>> devices_;
  flow_table flows_;
  list<code> code_;
  list<owner<const region_kernel>> regions_;
  list<std::int64_t> constants_;  // one element each, whatever its type
  list<aligned_buffer<std::byte>> literals_;
  list<std::string_view> names_;
};
using executable = basic_executable<>;

}  // namespace flowgraph::detail
