// How an instruction is named in messages, plans and profiles.
#pragma once
#include <string>
#include <string_view>

#include <flowgraph/engine/workspace.hpp>
#include <flowgraph/plan/plan.hpp>

namespace flowgraph::detail {

// The ops of an instruction, joined by +.
template <class Tag = void>
std::string ops_text(const plan_view& p, const instruction& x) {
  const program& region = p.programs[x.program];
  std::string text(x.program == 0 || region.role == program_role::after ? x.op->name : std::string_view());
  for (const program_step& s : p.steps_of(region)) text += (text.empty() ? "" : "+") + std::string(s.op->name);
  return region.role == program_role::before ? text + '+' + std::string(x.op->name) : text;
}

// The kernel that computes an instruction of a workspace is the library's own or a provider's.
template <class Tag = void>
std::string_view provider_of(const workspace& w, int i) {
  if (w.awaited_of(i) != nullptr) return carries(w.plan().instructions[i]) ? "a channel" : "a resource";
  const kernel_provider* const by = w.call(i).by;
  return by != nullptr ? by->name : "flowgraph";
}

}  // namespace flowgraph::detail
