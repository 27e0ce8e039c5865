// Sockets and TLS, compiled once.
#include <flowgraph/net/open_network_code.hpp>
