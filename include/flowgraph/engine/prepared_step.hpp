// A plan that an engine can run, with the workspaces of its steps.
#pragma once
#include <algorithm>

#include <flowgraph/core/list.hpp>
#include <flowgraph/session/engine_api.hpp>
#include "workspace_pool.hpp"

namespace flowgraph::detail {

template <class Tag>
class basic_prepared_step {
 public:
  basic_prepared_step(const plan_view& plan, const graph_view& g, const kernel_source& kernels,
                      device_source* devices = nullptr)
      : program(plan, g, kernels, devices_of(plan, devices)) {
    for (int k = 0; k < plan.channels.size(); ++k)
      if (is_elsewhere(plan.channels[k])) elsewhere.push_back(k);
  }

  executable program;
  list<int> elsewhere;  // channels whose other end is in another part of the plan, which somebody else runs
  workspace_pool workspaces;
  // Of a plan that outlives the session that made it: what its workspaces are made of. Null: the session's.
  variable_store* variables = nullptr;
  resource_store* resources = nullptr;
  const session_options* options = nullptr;

 private:
  static list<std::shared_ptr<device>> devices_of(const plan_view& plan, device_source* source) {
    list<std::shared_ptr<device>> all;
    for (int k = 0; source != nullptr && k < plan.devices.size(); ++k)
      all.push_back(source->find(plan.text(plan.devices[k])));
    return all;
  }
};

// One whose plan was made when the program ran.
template <class Tag = void>
struct basic_planned_now {
  plan_data plan;
  owner<prepared_step> step;
};
using planned_now = basic_planned_now<>;

template <class Tag = void>
bool same_nodes(const list<int>& kept, slice<int> wanted) {
  return std::equal(kept.begin(), kept.end(), wanted.begin(), wanted.end());
}

// A workspace, until the values of the step have been read.
template <class Tag = void>
class basic_workspace_lease {
 public:
  basic_workspace_lease(workspace_pool& pool, workspace& w) : pool_(pool), workspace_(w) {}
  basic_workspace_lease(const basic_workspace_lease&) = delete;
  basic_workspace_lease& operator=(const basic_workspace_lease&) = delete;
  ~basic_workspace_lease() {
    workspace_.leave();
    pool_.give(workspace_);
  }
  workspace& operator*() const { return workspace_; }
  workspace* operator->() const { return &workspace_; }

 private:
  workspace_pool& pool_;
  workspace& workspace_;
};
using workspace_lease = basic_workspace_lease<>;

}  // namespace flowgraph::detail
