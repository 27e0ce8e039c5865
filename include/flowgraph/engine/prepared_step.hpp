// A plan that an engine can run, with the workspaces of its steps.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "workspace_pool.hpp"

namespace flowgraph::detail {

class prepared_step {
 public:
  prepared_step(const plan_view& plan, const graph_view& g, const kernel_source& kernels) : program(plan, g, kernels) {}

  executable program;
  workspace_pool workspaces;
};

// One whose plan was made when the program ran, with the nodes that it was made for.
struct planned_now {
  std::vector<int> fetches, feeds;
  plan_data plan;
  std::unique_ptr<prepared_step> step;

  bool is_for(slice<int> wanted_fetches, slice<int> wanted_feeds) const {
    return std::equal(fetches.begin(), fetches.end(), wanted_fetches.begin(), wanted_fetches.end()) &&
           std::equal(feeds.begin(), feeds.end(), wanted_feeds.begin(), wanted_feeds.end());
  }
};

// A workspace, until the values of the step have been read.
class workspace_lease {
 public:
  workspace_lease(workspace_pool& pool, workspace& w) : pool_(pool), workspace_(w) {}
  workspace_lease(const workspace_lease&) = delete;
  workspace_lease& operator=(const workspace_lease&) = delete;
  ~workspace_lease() {
    workspace_.leave();
    pool_.give(workspace_);
  }
  workspace& operator*() const { return workspace_; }
  workspace* operator->() const { return &workspace_; }

 private:
  workspace_pool& pool_;
  workspace& workspace_;
};

}  // namespace flowgraph::detail
