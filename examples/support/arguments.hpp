// Numbers on the command line.
#pragma once
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string>

namespace example {

// The argument at this place, a whole number from 1 on; the usual one where there is none.
inline int number(int argc, char** argv, int place, const char* what, int usual) {
  if (argc <= place) return usual;
  const char* const text = argv[place];
  const char* const end = text + std::strlen(text);
  int n = 0;
  const auto [stop, error] = std::from_chars(text, end, n);
  if (error != std::errc() || stop != end || n < 1)
    throw std::runtime_error(std::string(what) + ": expected a whole number from 1 on, got \"" + text + "\"");
  return n;
}

}  // namespace example
