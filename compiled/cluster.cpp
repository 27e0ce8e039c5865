// Clusters of files and environments, compiled once.
#include <flowgraph/net/cluster_code.hpp>
