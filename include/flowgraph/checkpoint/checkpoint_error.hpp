// What a file and a session differ in.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/formats/file_error.hpp>

namespace flowgraph {

// Everything that restore found to differ. Nothing was changed.
class checkpoint_error : public file_error {
 public:
  checkpoint_error(std::string_view file, std::vector<std::string> mismatches)
      : file_error(problem::checkpoint_mismatch, file, {}, {sentence(problem::checkpoint_mismatch), text(mismatches)}),
        mismatches_(std::make_shared<const std::vector<std::string>>(std::move(mismatches))) {}

  // One line for each.
  const std::vector<std::string>& mismatches() const noexcept { return *mismatches_; }

 private:
  static std::string text(const std::vector<std::string>& mismatches) {
    std::string s = "; " + std::to_string(mismatches.size()) + " differ:";
    for (const std::string& m : mismatches) s += "\n  " + m;
    return s;
  }

  std::shared_ptr<const std::vector<std::string>> mismatches_;  // shared, so that a copy of the exception can't fail
};

}  // namespace flowgraph
