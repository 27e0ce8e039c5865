// Which carriers a task has, what guards them, and where it listens.
#pragma once
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <flowgraph/core/text_from.hpp>

#include "asio_loop.hpp"
#include "memory_carrier.hpp"
#include "near_carrier.hpp"
#include "open_network.hpp"
#include "tcp_carrier.hpp"
#include "unix_carrier.hpp"
#ifndef FLOWGRAPH_MPI
#define FLOWGRAPH_MPI 0
#endif
#if FLOWGRAPH_MPI
#include "mpi_carrier.hpp"
#endif

namespace flowgraph::detail {

inline std::string key_of_file(const std::string& path) {
  static constexpr std::size_t most = 65536;
  std::ifstream file(path, std::ios::binary);
  std::string key(most, '\0');
  file.read(key.data(), static_cast<std::streamsize>(most));
  if (!file.is_open() || file.bad()) throw cluster_error(problem::cluster_key, {path, ": it can't be read"});
  key.resize(static_cast<std::size_t>(file.gcount()));
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) key.pop_back();
  return key;
}
// nullptr: there are none.
inline std::shared_ptr<const tls_keys> keys_of(const network_options& o) {
  const bool certified = !o.certificate.empty() || !o.private_key.empty() || !o.authorities.empty();
  if (o.plaintext) {
    if (certified || !o.key.empty())
      throw cluster_error(problem::cluster_unguarded, {"network_options: there are keys, and plaintext is wanted"});
    return nullptr;
  }
  if (certified) {
    if (!o.key.empty())
      throw cluster_error(problem::cluster_unguarded, {"network_options: there are a key and certificates"});
    return tls_keys::of_certificates(o.certificate, o.private_key, o.authorities);
  }
  if (!o.key.empty()) return tls_keys::of_key(o.key);
  if (const char* file = variable_of_process("FLOWGRAPH_KEY_FILE")) return tls_keys::of_key(key_of_file(file));
  if (const char* key = variable_of_process("FLOWGRAPH_KEY")) return tls_keys::of_key(key);
  return nullptr;
}
inline bool is_mpi(std::string_view address) { return address.starts_with("mpi:"); }
// Not of a network that others are on as well.
inline bool is_near(std::string_view address) {
  return address.starts_with("unix:") || address.starts_with("process:") || is_mpi(address);
}

inline std::uint64_t new_incarnation() {
  std::random_device random;
  const std::uint64_t n = (std::uint64_t{random()} << 32) ^ random();
  return n != 0 ? n : 1;
}

inline namespace FLOWGRAPH_HALF {

FLOWGRAPH_OTHER_HALF network open_network(const cluster& here, const network_options& o, std::uint64_t fingerprint) {
  if (o.beat.count() <= 0 || o.patience <= o.beat || o.handshake.count() <= 0 || o.strangers == 0)
    throw argument_error(problem::network_option,
                         {sentence(problem::network_option), "; here: ",
                          text_from({"beat ", o.beat.count(), " ms, patience ", o.patience.count(), " ms, handshake ",
                                     o.handshake.count(), " ms, strangers ", o.strangers})});
  const auto keys = keys_of(o);
  bool by_mpi = false;
  std::string far;  // an address that is on the network
  for (const cluster_job& j : here.jobs())
    for (const std::string& a : j.addresses)
      if (host_port at; is_mpi(a)) {
        by_mpi = true;
        if (!FLOWGRAPH_MPI)
          throw cluster_error(problem::cluster_mpi, {"the cluster of ", here.source(), " has a task at ", a});
      } else if (!is_near(a) && far.empty()) {
        if (!parse_host_port(a, at))
          throw argument_error(problem::address_form, {"\"", a, "\": ", sentence(problem::address_form)});
        far = a;
      }
  const bool by_tcp = !far.empty() && o.transport != transport::unix_sockets;
  if (by_tcp && !keys && !o.plaintext)
    throw cluster_error(problem::cluster_unguarded, {"the cluster of ", here.source(), " has a task at ", far});

  auto loop = std::make_unique<asio_loop>();
  asio_loop& sockets = *loop;
  auto at =
      std::make_unique<endpoint>(sockets, endpoint_options{here.self(), here.name(), new_incarnation(), fingerprint,
                                                           o.beat, o.patience, o.handshake, o.strangers});
  at->add(std::make_unique<memory_carrier>(sockets));
  at->add(std::make_unique<unix_carrier>(sockets));
#if FLOWGRAPH_MPI
  if (by_mpi) at->add(std::make_unique<mpi_carrier>(sockets));
#endif
  if (o.transport == transport::any)
    at->add(std::make_unique<near_carrier>(here.name(), std::make_shared<unix_carrier>(sockets),
                                           std::make_shared<tcp_carrier>(sockets, keys, o.patience)));
  else if (o.transport == transport::unix_sockets)
    at->add(std::make_unique<near_carrier>(here.name(), std::make_shared<unix_carrier>(sockets), nullptr));
  else
    at->add(std::make_unique<tcp_carrier>(sockets, keys, o.patience));
  const char* guard = "the user of both ends";
  if (by_mpi) guard = "MPI: who is of its run";
  if (by_tcp) guard = !keys ? "nothing: plaintext" : keys->by_key() ? "TLS 1.3 by a key" : "TLS 1.3 by certificates";
  return {here, o, std::move(loop), std::move(at), guard};
}

FLOWGRAPH_OTHER_HALF void listen(network& n, const endpoint::welcome& w) {
  const std::string own(n.cluster.address(n.cluster.self()));
  std::string also;
  if (!own.empty() && is_near(own)) {
    n.address = n.at->listen(own, w);
  } else if (!own.empty()) {
    if (n.options.transport != transport::tcp) {
      also = near_address(n.cluster.name(), own);
      if (also.empty() && n.options.transport == transport::unix_sockets)
        throw argument_error(problem::address_taken, {"/tmp has no directory for the Unix sockets of this user"});
      if (!also.empty()) n.at->listen(also, w);
    }
    n.address = also;
    if (n.options.transport != transport::unix_sockets) {
      const char* const said = variable_of_process("FLOWGRAPH_LISTEN");
      std::string where = !n.options.listen.empty() ? n.options.listen : said != nullptr ? said : own;
      host_port at;
      std::error_code no_number;
      if (!parse_host_port(where, at))
        throw argument_error(problem::address_form, {"\"", where, "\": ", sentence(problem::address_form)});
      // A host's name may mean its loopback to itself, or nothing yet. Who has no key gets nothing at the others.
      asio::ip::make_address(at.host, no_number);
      if (no_number && at.host != "localhost" && !n.options.plaintext) where = "[::]:" + at.port;
      n.at->listen(where, w);
      n.address = own;
    }
  }
  if (n.options.quiet) return;
  const std::string line = text_from({"flowgraph: ", n.cluster.self().text(), " of ", n.cluster.name(), " (",
                                      n.cluster.source(), ") ", n.address.empty() ? "listens nowhere" : "listens at ",
                                      n.address, also.empty() || also == n.address ? "" : " and ",
                                      also == n.address ? "" : also, ", guarded by ", n.guard, "\n"});
  std::fputs(line.c_str(), stderr);
}

FLOWGRAPH_OTHER_HALF std::shared_ptr<peer_link> connect(network& n, const task_name& to,
                                                        std::shared_ptr<link_receiver> r, net_time deadline) {
  const std::string address(n.cluster.address(to));
  if (address.empty())
    throw cluster_error(problem::cluster_tasks, {to.text(), " is no task of the cluster of ", n.cluster.source()});
  return n.at->connect(to, address, std::move(r), deadline);
}

}  // namespace FLOWGRAPH_HALF

}  // namespace flowgraph::detail
