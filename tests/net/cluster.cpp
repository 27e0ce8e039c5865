// Clusters of lists, files and recorded environments of launchers; what is wrong with each is named.
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include <flowgraph/distributed.hpp>
#include <flowgraph/net/environment.hpp>

namespace {

namespace fg = flowgraph;
using variables = std::map<std::string, std::string>;

thread_local variables around;

const char* look_up(const char* name) {
  const auto found = around.find(name);
  return found != around.end() ? found->second.c_str() : nullptr;
}
fg::detail::cluster_facts of(variables v, const fg::cluster_rule& rule = {}) {
  around = std::move(v);
  return fg::detail::checked(fg::detail::cluster_of_environment(rule, &look_up));
}
std::string error_of(variables v, const fg::cluster_rule& rule = {}) {
  try {
    of(std::move(v), rule);
  } catch (const fg::cluster_error& e) {
    return e.what();
  }
  return "no error";
}
#define CHECK_ERROR(environment, words)                         \
  do {                                                          \
    const std::string said = error_of(environment);             \
    CHECK_MESSAGE(said.find(words) != std::string::npos, said); \
  } while (false)

variables with(variables v, const std::string& name, const std::string& value) {
  v[name] = value;
  return v;
}
variables without(variables v, const std::string& name) {
  v.erase(name);
  return v;
}
using addresses = std::vector<std::string>;

// Recorded: srun -n 5 over n0, n1 with two tasks each and n2 with one.
const variables slurm{{"SLURM_PROCID", "3"},
                      {"SLURM_NTASKS", "5"},
                      {"SLURM_STEP_NUM_TASKS", "5"},
                      {"SLURM_LOCALID", "1"},
                      {"SLURM_NODEID", "1"},
                      {"SLURMD_NODENAME", "n1"},
                      {"SLURM_STEP_ID", "0"},
                      {"SLURM_STEP_NODELIST", "n[0-2]"},
                      {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"},
                      {"SLURM_GTIDS", "2,3"}};
const variables open_mpi{{"OMPI_COMM_WORLD_RANK", "2"},       {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                         {"OMPI_COMM_WORLD_NODE_RANK", "2"},  {"PMIX_RANK", "2"},
                         {"PMIX_NAMESPACE", "3190358017"}};
const variables mpich{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
const variables torchrun{{"RANK", "1"},
                         {"WORLD_SIZE", "3"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "3"},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RESTART_COUNT", "0"},
                         {"TORCHELASTIC_RUN_ID", "none"}};
const variables kubernetes{{"JOB_COMPLETION_INDEX", "2"},
                           {"HOSTNAME", "train-2"},
                           {"FLOWGRAPH_SIZE", "4"},
                           {"FLOWGRAPH_SERVICE", "train.default.svc"}};
const std::string tf_config =
    R"({"cluster": {"ps": ["h0:2222"], "worker": ["h1:2222", "h2:2222"], "chief": ["h3:2222"]},
  "task": {"type": "worker", "index": 1}, "environment": "cloud", "rpc_layer": "grpc"})";

}  // namespace

TEST_CASE("cluster: of a list") {
  const fg::cluster c({{"ps", {"h0:4711"}}, {"worker", {"h1:4711", "h2:4711"}}}, {"worker", 1}, "digits");
  CHECK(c.job() == "worker");
  CHECK(c.task() == 1);
  CHECK(c.tasks() == 2);
  CHECK(c.tasks("ps") == 1);
  CHECK(c.tasks("chief") == 0);
  CHECK(c.address({"worker", 0}) == "h1:4711");
  CHECK(c.address({"worker", 2}).empty());
  CHECK(c.text() == "digits: this is /job:worker/task:1, says a list\n  ps h0:4711\n  worker h1:4711 h2:4711\n");
  // Who is none of them is a client.
  CHECK(fg::cluster({{"ps", {"h0:4711"}}}, {"client", 0}).tasks() == 0);
}

TEST_CASE("cluster: what no cluster is") {
  const auto wrong = [](std::vector<fg::cluster_job> jobs, fg::task_name self, const std::string& words,
                        const std::string& name = "test") {
    try {
      fg::cluster c(std::move(jobs), std::move(self), name);
      FAIL_CHECK("nothing was thrown: " << words);
    } catch (const fg::cluster_error& e) {
      const std::string what = e.what();
      CHECK_MESSAGE(what.find(words) != std::string::npos, what);
    }
  };
  wrong({}, {"ps", 0}, "it has no tasks");
  wrong({{"ps", {}}}, {"ps", 0}, "job ps has 0 tasks");
  wrong({{"p s", {"h:1"}}}, {"p s", 0}, "this task is /job:p s/task:0");
  wrong({{"p>s", {"h:1"}}}, {"ps", 0}, "a job is named \"p>s\"");
  wrong({{"ps", {"h:1"}}, {"ps", {"h:2"}}}, {"ps", 0}, "two jobs are named ps");
  wrong({{"ps", {"h:1"}}, {"worker", {"h:1"}}}, {"ps", 0}, "two tasks are at h:1");
  wrong({{"ps", {"h"}}}, {"ps", 0}, "has a task at \"h\"");
  wrong({{"ps", {""}}}, {"ps", 0}, "has a task at \"\"");
  wrong({{"ps", {"h:1"}}}, {"ps", 1}, "this is /job:ps/task:1, and job ps has 1 tasks");
  wrong({{"ps", {"h:1"}}}, {"ps", -1}, "this task is");
  wrong({{"ps", {"h:1"}}}, {"ps", 0}, "its name is \"a|b\"", "a|b");
}

TEST_CASE("cluster: of a file") {
  const std::string path = "flowgraph_cluster_test.txt";
  std::ofstream(path) << "# who is where\nps h0:1   h1:1\n\n\tworker\th2:1 # the only one\r\n";
  const auto c = fg::cluster::from_file(path, {"ps", 1});
  CHECK(c.tasks("ps") == 2);
  CHECK(c.address({"worker", 0}) == "h2:1");
  CHECK(c.source() == path);
  std::ofstream(path) << "ps h0:1\nworker\n";
  CHECK_THROWS_WITH_AS(fg::cluster::from_file(path, {"ps", 0}), doctest::Contains("line 2: job worker has no tasks"),
                       fg::cluster_error);
  std::remove(path.c_str());
  CHECK_THROWS_WITH_AS(fg::cluster::from_file(path, {"ps", 0}), doctest::Contains("it can't be read"),
                       fg::cluster_error);
}

TEST_CASE("cluster: of our own variables") {
  const variables own{{"FLOWGRAPH_CLUSTER", "ps=unix:/tmp/a,unix:/tmp/b;worker=h:1"},
                      {"FLOWGRAPH_TASK", "/job:ps/task:1"}};
  const auto f = of(own);
  CHECK(f.self == fg::task_name{"ps", 1});
  CHECK(f.jobs[0].addresses == addresses{"unix:/tmp/a", "unix:/tmp/b"});
  CHECK(f.source == "FLOWGRAPH_CLUSTER");
  // By a launcher's rank, through the jobs; whatever else that launcher says.
  const auto ranked = of(with(without(own, "FLOWGRAPH_TASK"), "OMPI_COMM_WORLD_RANK", "2"));
  CHECK(ranked.self == fg::task_name{"worker", 0});
  CHECK(of(with(own, "FLOWGRAPH_NAME", "digits")).name == "digits");
  CHECK_ERROR(without(own, "FLOWGRAPH_TASK"), "FLOWGRAPH_TASK (not set): is needed where FLOWGRAPH_CLUSTER is set");
  CHECK_ERROR(with(own, "FLOWGRAPH_TASK", "ps/1"), "FLOWGRAPH_TASK=\"ps/1\": is no task as");
  CHECK_ERROR(with(own, "FLOWGRAPH_CLUSTER", "h:1,h:2"), "FLOWGRAPH_CLUSTER=\"h:1,h:2\": is no list as");
  CHECK_ERROR(with(without(own, "FLOWGRAPH_TASK"), "SLURM_PROCID", "3"), "SLURM_PROCID=\"3\": is beyond the tasks");
}

TEST_CASE("cluster: of TF_CONFIG") {
  const auto f = of({{"TF_CONFIG", tf_config}, {"SLURM_PROCID", "0"}});
  CHECK(f.source == "TF_CONFIG");
  CHECK(f.self == fg::task_name{"worker", 1});
  CHECK(f.jobs.size() == 3);
  const auto config = [](const std::string& task) {
    return variables{{"TF_CONFIG", R"({"cluster": {"worker": ["h1:2222", "h2:2222"]}, "task": )" + task + "}"}};
  };
  CHECK(of(config(R"({"type": "worker", "index": "1"})")).self.index == 1);
  CHECK(of(config(R"({"type": "evaluator", "index": 0})")).self.job == "evaluator");
  CHECK_ERROR((variables{{"TF_CONFIG", "{"}}), "TF_CONFIG=\"{\": is no JSON object");
  CHECK_ERROR((variables{{"TF_CONFIG", "[]"}}), "is no JSON object");
  CHECK_ERROR((variables{{"TF_CONFIG", "{}"}}), "has no \"cluster\" and \"task\"");
  CHECK_ERROR((variables{{"TF_CONFIG", R"({"cluster": {"ps": "h:1"}, "task": {}})"}}), "no array of addresses");
  CHECK_ERROR((variables{{"TF_CONFIG", R"({"cluster": {"ps": [1]}, "task": {}})"}}), "an address that is no text");
  CHECK_ERROR(config("{}"), "has no task.type");
  CHECK_ERROR(config(R"({"type": "worker", "index": 1.5})"), "has no task.index");
  CHECK_ERROR(config(R"({"type": "worker", "index": 2})"), "has a task that is none of its cluster");
  CHECK_ERROR(config(R"({"type": "ps", "index": 0})"), "has a task that is none of its cluster");
}

TEST_CASE("cluster: of srun") {
  const auto f = of(slurm, {.ps = 1, .port = 5000});
  CHECK(f.source == "srun: SLURM_PROCID");
  CHECK(f.self == fg::task_name{"worker", 2});
  CHECK(f.jobs[0].addresses == addresses{"n0:5000"});
  CHECK(f.jobs[1].addresses == addresses{"n0:5001", "n1:5000", "n1:5001", "n2:5000"});
  CHECK(of(with(slurm, "SLURM_STEP_RESV_PORTS", "20016-20017")).jobs[0].addresses[1] == "n0:20017");
  // The same by --mpi=pmi2, and by --mpi=pmix.
  CHECK(of(with(with(slurm, "PMI_RANK", "3"), "PMI_SIZE", "5")).source == "srun: SLURM_PROCID");
  CHECK(of(with(slurm, "PMIX_RANK", "3")).source == "srun: SLURM_PROCID");
  // mpirun in a batch job: each rank is told by Slurm that it is the first.
  variables within = open_mpi;
  within.merge(variables{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_STEP_ID", "0"}});
  CHECK(of(within).source == "mpirun: OMPI_COMM_WORLD_RANK");
  CHECK_ERROR(without(slurm, "SLURM_STEP_ID"), "SLURM_PROCID=\"3\": is that of a batch script");
  CHECK_ERROR(with(slurm, "SLURM_PROCID", "5"), "SLURM_PROCID=\"5\": is no number from 0 to 4");
  CHECK_ERROR(with(slurm, "SLURM_STEP_NODELIST", "n[0-"), "SLURM_STEP_NODELIST=\"n[0-\": is no list of hosts");
  CHECK_ERROR(with(slurm, "SLURM_STEP_TASKS_PER_NODE", "2,2"),
              "SLURM_STEP_TASKS_PER_NODE=\"2,2\": does not lay 5 tasks");
  CHECK_ERROR(with(slurm, "SLURM_NODEID", "0"), "use srun -m block");
  CHECK_ERROR(with(slurm, "SLURM_STEP_RESV_PORTS", "20016"), "has no port for task 2 of a host");
  CHECK_ERROR(with(slurm, "SLURM_STEP_RESV_PORTS", "x"), "SLURM_STEP_RESV_PORTS=\"x\"");
  CHECK_ERROR(with(slurm, "FLOWGRAPH_PS", "6"), "6 ps of 5 tasks");
  CHECK_ERROR(with(slurm, "FLOWGRAPH_PORT", "70000"), "FLOWGRAPH_PORT=\"70000\": is no number from 1 to 65535");
}

TEST_CASE("cluster: of mpirun") {
  const auto f = of(with(open_mpi, "FLOWGRAPH_PS", "1"));
  CHECK(f.self == fg::task_name{"worker", 1});
  CHECK(f.jobs[1].addresses[1] == "unix:/tmp/flowgraph-ompi3190358017-2");
  CHECK(of(with(open_mpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "2")).jobs[0].addresses ==
        addresses{"mpi:0", "mpi:1", "mpi:2", "mpi:3"});
  CHECK_ERROR(with(open_mpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "5"),
              "OMPI_COMM_WORLD_LOCAL_SIZE=\"5\": is no number from 1 to 4");
  CHECK_ERROR(without(open_mpi, "OMPI_COMM_WORLD_SIZE"),
              "OMPI_COMM_WORLD_SIZE (not set): is needed beside OMPI_COMM_WORLD_RANK");
  CHECK_ERROR(with(open_mpi, "OMPI_COMM_WORLD_RANK", "four"), "OMPI_COMM_WORLD_RANK=\"four\": is no number");
  CHECK(of(with(with(mpich, "FLOWGRAPH_RUN", "a/b"), "TMPDIR", "/run/x")).jobs[0].addresses[0] ==
        "unix:/run/x/flowgraph-mpicha_b-0");
  CHECK_ERROR(mpich, "FLOWGRAPH_RUN (not set): is needed where mpirun does not name its run");
}

TEST_CASE("cluster: of torchrun") {
  const auto f = of(torchrun);
  CHECK(f.self == fg::task_name{"worker", 1});
  CHECK(f.jobs[0].addresses.size() == 3);
  CHECK(f.source == "torchrun: RANK");
  CHECK(f.jobs[0].addresses != of(with(torchrun, "TORCHELASTIC_RESTART_COUNT", "1")).jobs[0].addresses);
  CHECK_ERROR(with(torchrun, "LOCAL_WORLD_SIZE", "1"), "LOCAL_WORLD_SIZE=\"1\": is not WORLD_SIZE, 3");
}

TEST_CASE("cluster: of an indexed Job") {
  const auto f = of(kubernetes, {.ps = 1});
  CHECK(f.self == fg::task_name{"worker", 1});
  CHECK(f.jobs[1].addresses[1] == "train-2.train.default.svc:4711");
  CHECK_ERROR(without(kubernetes, "FLOWGRAPH_SIZE"), "FLOWGRAPH_SIZE (not set): is needed in an indexed Job");
  CHECK_ERROR(with(kubernetes, "HOSTNAME", "train-1"), "HOSTNAME=\"train-1\": does not end in -2");
}

TEST_CASE("cluster: of nothing") { CHECK_ERROR(variables{}, "no launcher has set a variable"); }

TEST_CASE("cluster: host lists of Slurm") {
  using fg::detail::expand_counts, fg::detail::expand_hosts;
  // As scontrol show hostnames expands them.
  CHECK(expand_hosts("rack[0-1]n[0-2],b[08-10],c") ==
        addresses{"rack0n0", "rack0n1", "rack0n2", "rack1n0", "rack1n1", "rack1n2", "b08", "b09", "b10", "c"});
  CHECK(expand_hosts("n[1,3,7-8]x") == addresses{"n1x", "n3x", "n7x", "n8x"});
  for (const char* text :
       {"", "n[", "n[]", "n[2-1]", "n[a-b]", "n[0-999999999]", ",", "a,", "a,,b", "n[0-99999][0-99999]"})
    CHECK_MESSAGE(expand_hosts(text).empty(), text);
  CHECK(expand_counts("2(x2),1") == std::vector{2, 2, 1});
  for (const char* text : {"", "x", "2(x", "2(x0)", "2(x999999999)", "2 (x2)", "-1", "2(x2)3"})
    CHECK_MESSAGE(expand_counts(text).empty(), text);
}
