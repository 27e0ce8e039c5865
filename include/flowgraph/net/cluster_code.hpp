// How a cluster is read from files and from what launchers leave in the environment: each launcher is a function that
// knows its variables.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <flowgraph/core/text_from.hpp>

#include "cluster.hpp"
#include "environment.hpp"

namespace flowgraph::detail {

// Of a rank, as a launcher knows it: the first rule.ps ranks are ps.
struct ranked_tasks {
  const cluster_rule& rule;
  std::vector<std::string> addresses;
  int rank;
};

inline cluster_facts facts_of(ranked_tasks r, std::string source) {
  const int size = static_cast<int>(r.addresses.size()), ps = r.rule.ps;
  if (ps > size)
    throw cluster_error(problem::cluster_environment, {source, ": ", text_from({ps, " ps of ", size, " tasks"})});
  cluster_facts f{r.rule.name, {}, {}, std::move(source)};
  const auto middle = r.addresses.begin() + ps;
  if (ps > 0) f.jobs.push_back({"ps", {r.addresses.begin(), middle}});
  if (ps < size) f.jobs.push_back({"worker", {middle, r.addresses.end()}});
  f.self = r.rank < ps ? task_name{"ps", r.rank} : task_name{"worker", r.rank - ps};
  return f;
}

// Of one host, where the launcher gives no addresses: sockets in the user's own directory, which one run's tasks name
// alike.
inline std::vector<std::string> local_addresses(const environment& e, int size, std::string_view run) {
  std::string id;
  for (const char c : run.substr(0, 40))
    id += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  const std::string directory = e.has("TMPDIR") ? e.get("TMPDIR") : "/tmp";
  std::vector<std::string> all;
  for (int i = 0; i < size; ++i) all.push_back(text_from({"unix:", directory, "/flowgraph-", id, "-", i}));
  return all;
}

// ---- launchers, each where its own variables are set

// "ps=h0:1,h1:1;worker=h2:1"
inline std::vector<cluster_job> jobs_of_list(const environment& e, const char* name) {
  std::vector<cluster_job> jobs;
  for (const std::string& part : split(e.get(name), ';')) {
    const std::size_t equal = part.find('=');
    if (equal == std::string::npos) e.fail(name, "is no list as ps=host:port,host:port;worker=host:port");
    jobs.push_back({part.substr(0, equal), split(std::string_view(part).substr(equal + 1), ',')});
  }
  return jobs;
}
// The rank that the launcher gives, if any.
inline const char* rank_variable(const environment& e) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX", "RANK"})
    if (e.has(name)) return name;
  return nullptr;
}
inline cluster_facts of_own_variables(const environment& e, const cluster_rule& rule) {
  cluster_facts f{rule.name, jobs_of_list(e, "FLOWGRAPH_CLUSTER"), {}, "FLOWGRAPH_CLUSTER"};
  const char* const by_rank = rank_variable(e);
  if (!e.has("FLOWGRAPH_TASK") && by_rank != nullptr) {
    int rank = e.number(by_rank, 0, max_task_index, "");
    f.source += text_from({" and ", by_rank});
    for (const cluster_job& j : f.jobs) {
      if (rank < static_cast<int>(j.addresses.size())) {
        f.self = {j.name, rank};
        return f;
      }
      rank -= static_cast<int>(j.addresses.size());
    }
    e.fail(by_rank, "is beyond the tasks of FLOWGRAPH_CLUSTER");
  }
  const std::string self = e.need("FLOWGRAPH_TASK", "where FLOWGRAPH_CLUSTER is set: \"/job:worker/task:0\"");
  if (!parse_task(self, f.self)) e.fail("FLOWGRAPH_TASK", "is no task as \"/job:worker/task:0\"");
  return f;
}

inline cluster_facts of_tf_config(const environment& e, const cluster_rule& rule) {
  const auto fail = [&](std::string_view what) { e.fail("TF_CONFIG", what); };
  const nlohmann::json all = nlohmann::json::parse(e.get("TF_CONFIG"), nullptr, false);
  if (!all.is_object()) fail("is no JSON object");
  const auto member = [](const nlohmann::json& of, const char* name) {
    const auto found = of.find(name);
    return found != of.end() ? *found : nlohmann::json();
  };
  const nlohmann::json jobs = member(all, "cluster"), task = member(all, "task");
  if (!jobs.is_object() || !task.is_object()) fail("has no \"cluster\" and \"task\" that are objects");
  cluster_facts f{rule.name, {}, {}, "TF_CONFIG"};
  for (const auto& [name, addresses] : jobs.items()) {
    cluster_job j{name, {}};
    if (!addresses.is_array()) fail("has a job whose tasks are no array of addresses");
    for (const nlohmann::json& a : addresses) {
      if (!a.is_string()) fail("has an address that is no text");
      j.addresses.push_back(a.get<std::string>());
    }
    f.jobs.push_back(std::move(j));
  }
  const nlohmann::json type = member(task, "type"), index = member(task, "index");
  if (!type.is_string()) fail("has no task.type that is a text");
  f.self.job = type.get<std::string>();
  // Some who write it write numbers as text.
  const std::string number = index.is_string() ? index.get<std::string>() : index.dump();
  const auto r = std::from_chars(number.data(), number.data() + number.size(), f.self.index);
  if (r.ec != std::errc() || r.ptr != number.data() + number.size()) fail("has no task.index that is a number");
  const auto own =
      std::find_if(f.jobs.begin(), f.jobs.end(), [&](const cluster_job& j) { return j.name == f.self.job; });
  if (f.self.index < 0 || (own != f.jobs.end() && f.self.index >= static_cast<int>(own->addresses.size())) ||
      (own == f.jobs.end() && f.self.job != "evaluator"))
    fail("has a task that is none of its cluster");
  return f;
}

inline cluster_facts of_torchrun(const environment& e, const cluster_rule& rule) {
  const int size = e.number("WORLD_SIZE", 1, max_task_index + 1, "beside RANK");
  const int rank = e.number("RANK", 0, size - 1, "beside WORLD_SIZE");
  const int local = e.number("LOCAL_WORLD_SIZE", 1, size, "beside RANK");
  if (local != size)
    e.fail("LOCAL_WORLD_SIZE",
           text_from({"is not WORLD_SIZE, ", size,
                      ": torchrun gives no addresses of tasks on other hosts; set FLOWGRAPH_CLUSTER"}));
  // A restart has another set of tasks, and another port.
  const std::string run = text_from(
      {"torchrun", e.get("TORCHELASTIC_RUN_ID"), "_", e.get("MASTER_PORT"), "_", e.get("TORCHELASTIC_RESTART_COUNT")});
  return facts_of({rule, local_addresses(e, size, run), rank}, "torchrun: RANK");
}

inline cluster_facts of_mpirun(const environment& e, const cluster_rule& rule, bool open_mpi) {
  const char* const rank_name = open_mpi ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK";
  const char* const size_name = open_mpi ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE";
  const char* const local_name = open_mpi ? "OMPI_COMM_WORLD_LOCAL_SIZE" : "MPI_LOCALNRANKS";
  const int size = e.number(size_name, 1, max_task_index + 1, text_from({"beside ", rank_name}));
  const int rank = e.number(rank_name, 0, size - 1, text_from({"beside ", size_name}));
  const int local = e.number(local_name, 1, size, text_from({"beside ", rank_name}));
  const std::string source = std::string("mpirun: ") + rank_name;
  if (local != size) {  // of other hosts mpirun gives no addresses, and MPI needs none
    std::vector<std::string> ranks;
    for (int i = 0; i < size; ++i) ranks.push_back(text_from({"mpi:", i}));
    return facts_of({rule, std::move(ranks), rank}, source);
  }
  // What names this run: of MPICH it is the parent's job, where that says one.
  const char* const run = open_mpi ? "PMIX_NAMESPACE" : "PMI_JOBID";
  const std::string id =
      e.has(run) ? e.get(run)
                 : e.need("FLOWGRAPH_RUN", "where mpirun does not name its run: any word that no other run has");
  return facts_of({rule, local_addresses(e, size, (open_mpi ? "ompi" : "mpich") + id), rank}, source);
}

inline cluster_facts of_srun(const environment& e, const cluster_rule& rule) {
  if (!e.has("SLURM_STEP_ID"))
    e.fail("SLURM_PROCID", "is that of a batch script, without SLURM_STEP_ID: start the program by srun");
  const int size = e.number(e.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", 1,
                            max_task_index + 1, "beside SLURM_PROCID");
  const int rank = e.number("SLURM_PROCID", 0, size - 1, "");
  const char* const list = e.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_NODELIST";
  const auto hosts = expand_hosts(e.need(list, "beside SLURM_PROCID"));
  if (hosts.empty()) e.fail(list, "is no list of hosts as n[0-2],m1");
  const char* const counts_name = "SLURM_STEP_TASKS_PER_NODE";
  const auto counts = expand_counts(e.need(counts_name, "beside SLURM_PROCID"));
  int sum = 0;
  for (const int n : counts) sum = std::min(sum + n, max_task_index + 2);
  if (counts.size() != hosts.size() || sum != size)
    e.fail(counts_name, text_from({"does not lay ", size, " tasks out over ", hosts.size(), " hosts"}));
  // Ports that Slurm has set aside are alike on every task; a host's tasks take one after the other.
  int port = rule.port, most = 65535;
  if (e.has("SLURM_STEP_RESV_PORTS")) {
    const auto range = split(e.get("SLURM_STEP_RESV_PORTS"), '-');
    const auto number = [&](const std::string& text) {
      int n = 0;
      const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
      if (r.ec != std::errc() || r.ptr != text.data() + text.size() || n < 1 || n > 65535)
        e.fail("SLURM_STEP_RESV_PORTS", "is no range of ports as 20000-20003");
      return n;
    };
    port = number(range.front());
    most = number(range.back());
  }
  std::vector<std::string> addresses;
  int own_host = -1, own_place = -1;
  for (std::size_t h = 0; h < hosts.size(); ++h)
    for (int k = 0; k < counts[h]; ++k) {
      if (static_cast<int>(addresses.size()) == rank) {
        own_host = static_cast<int>(h);
        own_place = k;
      }
      if (port + k > most)
        e.fail(e.has("SLURM_STEP_RESV_PORTS") ? "SLURM_STEP_RESV_PORTS" : "FLOWGRAPH_PORT",
               text_from({"has no port for task ", k + 1, " of a host: srun --resv-ports=", counts[h]}));
      addresses.push_back(text_from({hosts[h], ":", port + k}));
    }
  // The list does not say how ranks go round the hosts; what this task knows of itself must be so.
  if (e.number("SLURM_NODEID", 0, max_task_index, "beside SLURM_PROCID") != own_host ||
      e.number("SLURM_LOCALID", 0, max_task_index, "beside SLURM_PROCID") != own_place)
    e.fail("SLURM_NODEID", text_from({"and SLURM_LOCALID=", e.get("SLURM_LOCALID"), " are not those of task ", rank,
                                      " of ", e.get(counts_name), ": use srun -m block"}));
  return facts_of({rule, std::move(addresses), rank}, "srun: SLURM_PROCID");
}

inline cluster_facts of_kubernetes(const environment& e, const cluster_rule& rule) {
  const int size = e.number("FLOWGRAPH_SIZE", 1, max_task_index + 1,
                            "in an indexed Job: its completions, which Kubernetes does not tell");
  const int rank = e.number("JOB_COMPLETION_INDEX", 0, size - 1, "");
  const std::string host = e.need("HOSTNAME", "in an indexed Job"), end = text_from({"-", rank});
  const std::string service =
      e.need("FLOWGRAPH_SERVICE", "in an indexed Job: the headless service, its pods' subdomain");
  if (!host.ends_with(end))
    e.fail("HOSTNAME", text_from({"does not end in ", end, ", as that of an indexed Job does"}));
  const std::string job = host.substr(0, host.size() - end.size());
  std::vector<std::string> addresses;
  for (int i = 0; i < size; ++i) addresses.push_back(text_from({job, "-", i, ".", service, ":", rule.port}));
  return facts_of({rule, std::move(addresses), rank}, "Kubernetes: JOB_COMPLETION_INDEX");
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF const char* variable_of_process(const char* name) { return std::getenv(name); }

FLOWGRAPH_OTHER_HALF cluster_facts checked(cluster_facts f) {
  const auto fail = [&](std::string_view what) {
    throw cluster_error(problem::cluster_tasks, {"the cluster of ", f.source, ": ", what});
  };
  if (!is_job_name(f.name)) fail("its name is \"" + f.name + "\"");
  if (!is_task(f.self)) fail("this task is " + f.self.text());
  std::set<std::string> names, addresses;
  bool own_job = false;
  for (const cluster_job& j : f.jobs) {
    if (!is_job_name(j.name)) fail("a job is named \"" + j.name + "\"");
    if (!names.insert(j.name).second) fail("two jobs are named " + j.name);
    if (j.addresses.empty() || j.addresses.size() > static_cast<std::size_t>(max_task_index) + 1)
      fail(text_from({"job ", j.name, " has ", j.addresses.size(), " tasks"}));
    for (const std::string& a : j.addresses) {
      const std::size_t colon = a.rfind(':');
      if (colon == std::string::npos || colon == 0 || colon + 1 == a.size() ||
          a.find_first_of(" \t\r\n") != std::string::npos)
        fail(text_from({"job ", j.name, " has a task at \"", a,
                        "\", which is no HOST:PORT, unix:PATH, process:NAME or mpi:RANK"}));
      if (!addresses.insert(a).second) fail("two tasks are at " + a);
    }
    if (j.name != f.self.job) continue;
    own_job = true;
    if (f.self.index >= static_cast<int>(j.addresses.size()))
      fail(text_from({"this is ", f.self.text(), ", and job ", j.name, " has ", j.addresses.size(), " tasks"}));
  }
  if (!own_job && f.jobs.empty()) fail("it has no tasks");
  return f;
}

FLOWGRAPH_OTHER_HALF cluster_facts cluster_of_file(std::string_view path, const task_name& self) {
  const std::string name(path);
  const auto fail = [&](std::string_view what) { throw cluster_error(problem::cluster_tasks, {name, ": ", what}); };
  std::ifstream file(name);
  if (!file) fail("it can't be read");
  cluster_facts f{"flowgraph", {}, self, name};
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.size() > 10'000'000 || number > 100'000) fail("it is no list of tasks");
    line = line.substr(0, line.find('#'));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\t' || c == '\r'; }, ' ');
    std::vector<std::string> words = split(line, ' ');
    std::erase(words, "");
    if (words.empty()) continue;
    if (words.size() == 1) fail(text_from({"line ", number, ": job ", words[0], " has no tasks"}));
    f.jobs.push_back({words[0], {words.begin() + 1, words.end()}});
  }
  if (file.bad()) fail("it can't be read");
  return f;
}

FLOWGRAPH_OTHER_HALF cluster_facts cluster_of_environment(const cluster_rule& rule, environment_reader read) {
  const environment e(read);
  cluster_rule r = rule;
  r.ps = e.number_or("FLOWGRAPH_PS", rule.ps, 0, max_task_index + 1);
  r.port = e.number_or("FLOWGRAPH_PORT", rule.port, 1, 65535);
  if (e.has("FLOWGRAPH_NAME")) r.name = e.get("FLOWGRAPH_NAME");
  if (e.has("FLOWGRAPH_CLUSTER")) return of_own_variables(e, r);
  // The innermost launcher is right: under mpirun in a job of Slurm every task is told that it is the first of one.
  if (e.has("TF_CONFIG")) return of_tf_config(e, r);
  if (e.has("RANK") && e.has("MASTER_ADDR")) return of_torchrun(e, r);
  if (e.has("OMPI_COMM_WORLD_RANK")) return of_mpirun(e, r, true);
  // srun --mpi=pmi2 sets both, and knows addresses.
  const bool of_slurm =
      e.has("SLURM_STEP_ID") && e.get("PMI_RANK") == e.get("SLURM_PROCID") &&
      (e.get("PMI_SIZE") == e.get("SLURM_STEP_NUM_TASKS") || e.get("PMI_SIZE") == e.get("SLURM_NTASKS"));
  if (e.has("PMI_RANK") && !of_slurm) return of_mpirun(e, r, false);
  if (e.has("SLURM_PROCID")) return of_srun(e, r);
  if (e.has("JOB_COMPLETION_INDEX")) return of_kubernetes(e, r);
  throw cluster_error(
      problem::cluster_environment,
      {"no launcher has set a variable that tells this task of its cluster: FLOWGRAPH_CLUSTER, TF_CONFIG, RANK "
       "and MASTER_ADDR, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID or JOB_COMPLETION_INDEX"});
}

FLOWGRAPH_OTHER_HALF std::string cluster_text(const cluster_facts& f) {
  std::string text = text_from({f.name, ": this is ", f.self.text(), ", says ", f.source, "\n"});
  for (const cluster_job& j : f.jobs) {
    text += "  " + j.name;
    for (const std::string& a : j.addresses) text += " " + a;
    text += "\n";
  }
  return text;
}

}  // namespace FLOWGRAPH_HALF

}  // namespace flowgraph::detail
