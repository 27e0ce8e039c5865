// A task's network, made of what its cluster says and its options: the loop that its links live in, the endpoint that
// makes them, and the carriers that both ends have.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <flowgraph/core/other_half.hpp>

#include "cluster.hpp"
#include "endpoint.hpp"
#include "network_options.hpp"

namespace flowgraph::detail {

struct network {
  flowgraph::cluster cluster;
  network_options options;
  std::unique_ptr<event_loop> loop;
  std::unique_ptr<endpoint> at;  // which ends before its loop
  std::string guard;             // "TLS 1.3 by a key", for people
  // Where it listens, as others can dial it; empty: it does not.
  std::string address{};
};

inline namespace FLOWGRAPH_HALF {

// Nobody is let in yet. fingerprint: of what the task runs; 0: anything. Throws cluster_error and argument_error.
FLOWGRAPH_OTHER_HALF network open_network(const cluster& here, const network_options& o, std::uint64_t fingerprint);
// Others may connect from now on; prints who this is. A task that is none of its cluster listens nowhere.
FLOWGRAPH_OTHER_HALF void listen(network& n, const endpoint::welcome& w);
// Throws cluster_error: there is no such task.
FLOWGRAPH_OTHER_HALF std::shared_ptr<peer_link> connect(network& n, const task_name& to,
                                                        std::shared_ptr<link_receiver> r, net_time deadline);

}  // namespace FLOWGRAPH_HALF

}  // namespace flowgraph::detail

#if FLOWGRAPH_OTHER_HALF_HERE
#include "open_network_code.hpp"
#endif
