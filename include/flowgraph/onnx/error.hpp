// What is wrong with an ONNX file, or with a graph that is to become one: every mistake, each with its node and op.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <flowgraph/formats/file_error.hpp>

namespace flowgraph {

struct onnx_fault {
  std::string node;   // its name, or that of its first result; empty: none is to blame
  std::string op;     // empty with the node
  std::string where;  // the user's line that made the node; empty in a file that is read
  std::string reason;
};

// "model.onnx: node "conv1" (Conv): ...", a line for each fault.
class onnx_error : public file_error {
 public:
  onnx_error(problem why, std::string_view file, std::vector<onnx_fault> faults)
      : file_error(why, file, {}, {text(faults)}),
        faults_(std::make_shared<const std::vector<onnx_fault>>(std::move(faults))) {}
  onnx_error(problem why, std::string_view file, onnx_fault fault)
      : onnx_error(why, file, std::vector<onnx_fault>{std::move(fault)}) {}

  const std::vector<onnx_fault>& faults() const noexcept { return *faults_; }

 private:
  static std::string text(const std::vector<onnx_fault>& faults) {
    std::string s;
    for (const onnx_fault& f : faults) {
      if (faults.size() > 1) s += "\n  ";
      if (!f.op.empty()) s += "node \"" + f.node + "\" (" + f.op + ")";
      if (!f.where.empty()) s += " made at " + f.where;
      s += (f.op.empty() ? "" : ": ") + f.reason;
    }
    return s;
  }

  std::shared_ptr<const std::vector<onnx_fault>> faults_;  // shared, so that a copy of the exception can't fail
};

}  // namespace flowgraph
