// fg::cluster: the tasks that work together, where each is, and which of them this is. From a list, a file, or what the
// launcher has left in the environment.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <flowgraph/core/other_half.hpp>

#include "peer_error.hpp"

namespace flowgraph {

// The tasks of one job, by number: "host:4711", "unix:/run/ps0", "process:ps0", "mpi:0".
struct cluster_job {
  std::string name;
  std::vector<std::string> addresses;
};

// How tasks are named where the launcher gives numbers alone: the first `ps` are "/job:ps/task:0" and so on, the others
// "/job:worker/task:0" and so on. FLOWGRAPH_PS, FLOWGRAPH_PORT and FLOWGRAPH_NAME say otherwise where they are set.
struct cluster_rule {
  int ps = 0;
  int port = 4711;  // of the first task on a host; the next has the next
  std::string name = "flowgraph";
};

class cluster;

namespace detail {

struct cluster_facts {
  std::string name;
  std::vector<cluster_job> jobs;
  task_name self;
  std::string source;  // "a list", "TF_CONFIG"
};

// A task's view of the variables around it: nullptr where there is none.
using environment_reader = const char* (*)(const char* name);

inline namespace FLOWGRAPH_HALF {

// Throw cluster_error.
FLOWGRAPH_OTHER_HALF cluster_facts checked(cluster_facts f);
FLOWGRAPH_OTHER_HALF cluster_facts cluster_of_file(std::string_view path, const task_name& self);
FLOWGRAPH_OTHER_HALF cluster_facts cluster_of_environment(const cluster_rule& rule, environment_reader read);
FLOWGRAPH_OTHER_HALF std::string cluster_text(const cluster_facts& f);
FLOWGRAPH_OTHER_HALF const char* variable_of_process(const char* name);

}  // namespace FLOWGRAPH_HALF

}  // namespace detail

//   fg::cluster here({{"ps", {"h0:4711"}}, {"worker", {"h1:4711", "h2:4711"}}}, {"worker", 0});
//   auto here = fg::cluster::from_environment();
class cluster {
 public:
  // self: which of them this is; or one that is none of them, which has no address: it connects, and nobody to it.
  cluster(std::vector<cluster_job> jobs, task_name self, std::string name = "flowgraph")
      : cluster(detail::cluster_facts{std::move(name), std::move(jobs), std::move(self), "a list"}) {}

  // A line for each job, "worker host1:4711 host2:4711"; '#' begins a comment.
  static cluster from_file(std::string_view path, const task_name& self) {
    return cluster(detail::cluster_of_file(path, self));
  }
  // What the innermost launcher says: FLOWGRAPH_CLUSTER and FLOWGRAPH_TASK, TF_CONFIG, torchrun, mpirun, srun, an
  // indexed Job of Kubernetes. docs/operations.md says what each has to give.
  static cluster from_environment(const cluster_rule& rule = {}) {
    return cluster(detail::cluster_of_environment(rule, &detail::variable_of_process));
  }

  const std::string& name() const { return facts_.name; }
  const task_name& self() const { return facts_.self; }
  const std::string& job() const { return facts_.self.job; }
  int task() const { return facts_.self.index; }
  int tasks() const { return tasks(facts_.self.job); }  // of this task's job
  int tasks(std::string_view job) const {
    for (const cluster_job& j : facts_.jobs)
      if (j.name == job) return static_cast<int>(j.addresses.size());
    return 0;
  }
  const std::vector<cluster_job>& jobs() const { return facts_.jobs; }
  // Empty: it is none of them.
  std::string_view address(const task_name& t) const {
    for (const cluster_job& j : facts_.jobs)
      if (j.name == t.job && t.index >= 0 && t.index < static_cast<int>(j.addresses.size()))
        return j.addresses[static_cast<std::size_t>(t.index)];
    return {};
  }
  // Who has said so: "TF_CONFIG", "srun: SLURM_PROCID".
  const std::string& source() const { return facts_.source; }
  // For people, a line a job.
  std::string text() const { return detail::cluster_text(facts_); }

 private:
  explicit cluster(detail::cluster_facts f) : facts_(detail::checked(std::move(f))) {}

  detail::cluster_facts facts_;
};

}  // namespace flowgraph

#if FLOWGRAPH_OTHER_HALF_HERE
#include "cluster_code.hpp"
#endif
