#include "model.hpp"

std::int64_t parameters_of_line() { return static_cast<std::int64_t>(line.parameters()); }
