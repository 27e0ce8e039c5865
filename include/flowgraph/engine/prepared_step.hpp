// A plan that an engine can run, with the workspaces of its steps.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include <flowgraph/session/engine_api.hpp>
#include "workspace_pool.hpp"

namespace flowgraph::detail {

template <class Tag>
class basic_prepared_step {
 public:
  basic_prepared_step(const plan_view& plan, const graph_view& g, const kernel_source& kernels)
      : program(plan, g, kernels) {}

  executable program;
  workspace_pool workspaces;
};

// One whose plan was made when the program ran, with the nodes that it was made for.
template <class Tag = void>
struct basic_planned_now {
  std::vector<int> fetches, feeds;
  plan_data plan;
  std::unique_ptr<prepared_step> step;

  bool is_for(slice<int> wanted_fetches, slice<int> wanted_feeds) const {
    return std::equal(fetches.begin(), fetches.end(), wanted_fetches.begin(), wanted_fetches.end()) &&
           std::equal(feeds.begin(), feeds.end(), wanted_feeds.begin(), wanted_feeds.end());
  }
};
using planned_now = basic_planned_now<>;

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
