// Numbers from a .csv file, and where the examples' files are.
#pragma once
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

// Row by row.
struct table {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;

  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

inline table read_csv(const std::string& path, bool header = false) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  table t;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (number == 1 && header) continue;
    std::istringstream cells(line);
    std::size_t columns = 0;
    for (std::string cell; std::getline(cells, cell, ','); ++columns) {
      char* end = nullptr;
      t.values.push_back(std::strtod(cell.c_str(), &end));
      if (end == cell.c_str())
        throw std::runtime_error(path + ":" + std::to_string(number) + ": expected a number, got \"" + cell + '"');
    }
    if (t.rows++ == 0) t.columns = columns;
    if (columns != t.columns)
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + std::to_string(columns) +
                               " numbers, expected " + std::to_string(t.columns));
  }
  return t;
}

// The directory that the program was given, or the one that the environment names.
inline std::string data_directory(int argc, char** argv) {
  if (argc > 1) return argv[1];
  const char* named = std::getenv("FLOWGRAPH_EXAMPLE_DATA");
  return named != nullptr ? named : "examples/data";
}

}  // namespace example
