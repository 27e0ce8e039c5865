// What a session is told when it is made.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <flowgraph/core/other_half.hpp>
#include <flowgraph/passes/pipeline.hpp>
#include "lent_threads.hpp"
#include "reports.hpp"

namespace flowgraph {

class resources;
class variables;

namespace detail {
inline namespace FLOWGRAPH_HALF {

// As many as the machine runs at once.
FLOWGRAPH_LAZY_HALF int default_threads();

}  // namespace FLOWGRAPH_HALF
}  // namespace detail

// Whose kernels a session runs.
enum class kernels {
  automatic,  // what the environment variable FLOWGRAPH_KERNELS says; without it each op's quickest
  eigen,      // the library's own alone
  onednn      // oneDNN's wherever it has one, however small the operands
};

// How the instructions of one step use several threads.
enum class inter_op_policy {
  automatic,  // from what they cost and how they depend on each other, once for each set of extents
  serial,     // one after another; a large one is spread over the threads
  parallel    // as soon as what an instruction waits for is done
};

// What steps of one session that run at the same time see of each other's updates. docs/sessions.md has the exact
// words.
enum class update_policy {
  consistent,   // as if one step had run after another
  overlapping,  // each instruction reads whole values, and no update is lost; instructions of several steps mix
  lock_free     // no locks: readers may see half an update, and updates may be lost
};

struct session_options {
  // A step runs on up to this many threads: the caller's and those of a crew, which is made when it is first needed.
  // run_async has no caller and needs one thread of the crew, also where this is 1.
  int threads = detail::default_threads();
  // Decides the first values of variables and every random number.
  std::uint64_t seed = 0;
  // Steps of fewer elementary operations run on the calling thread: waking another one would take longer.
  std::int64_t serial_below = 1'000'000;
  // Whose kernels compute: the library's own, or another library's.
  flowgraph::kernels kernels = flowgraph::kernels::automatic;
  inter_op_policy inter_op = inter_op_policy::automatic;
  update_policy updates = update_policy::consistent;
  // A step ends with an execution_error at the first instruction that gives a NaN or an infinity, which names the node,
  // its line, the element and the ranges of what it read. Every value is read again: for looking for a mistake.
  check_option check_numerics = {};
  // The times of this many last steps are kept; see profile(). 0: none are taken.
  profile_option profile = {};
  // Of a dynamic_session: what it may place nodes on, such as {"/cpu:0", "/cpu:1"}; the first one takes what says
  // nothing and reads nothing. CPU devices share the threads. Empty: one CPU. A session<model> has them in its type, as
  // session<on_devices<model, "/cpu:0", "/cpu:1">>; here they are left empty or are the same.
  std::vector<std::string> devices = {};
  // Queues, mutexes and barriers that the session shares with others that were given the same. Null: it has its own.
  std::shared_ptr<flowgraph::resources> resources = nullptr;
  // Variables that the session shares with others that were given the same. Null: it has its own.
  std::shared_ptr<flowgraph::variables> variables = nullptr;
  // Of a session that runs graphs which come and go, one for each input: how many plans are kept to be found again by
  // graphs of equal structure, with the memory of their steps. When there are as many, the one that was used longest
  // ago makes room for a structure that is met for the second time.
  int plans = 256;
  // Threads that the application has already, as a pool of Eigen's or as anything that runs a task, if not on another
  // thread then in the call, or throws. Either outlives the session and runs every task that it took. Then the session
  // makes no threads of its own, but one that keeps the time where a step of run_async has a deadline.
  lent_threads pool = {};      // of an Eigen::ThreadPoolInterface*
  lent_threads schedule = {};  // of a function of a std::function<void()>, the task
  // Of a dynamic_session: what is done to a graph before it is planned. With everything off it runs as it was written.
  flowgraph::passes::options passes = {};
};

}  // namespace flowgraph
