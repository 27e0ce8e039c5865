// What of a session goes into a file, and what it is called there.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace flowgraph {

struct checkpoint_options {
  // What a variable is called in the file, by its name in the graph. Empty: the same.
  std::function<std::string(std::string_view name)> name_in_file = nullptr;
  // The weights alone: neither other variables nor the seed and the count of steps.
  bool trainable_only = false;
  // Of restore: variables that the file does not have stay as they are.
  bool allow_missing = false;
  // Of restore: tensors that no variable is called like are passed over.
  bool allow_extra = false;
};

}  // namespace flowgraph
