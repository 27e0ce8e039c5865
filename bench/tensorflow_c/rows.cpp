// TensorFlow through its C API: runs the graph that python/tensorflow_rows.py --graph ROW DIRECTORY has written, with
// the numbers that lie beside it. The directory of each row is below the one that BENCH_TENSORFLOW_GRAPHS names.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <tensorflow/c/c_api.h>

#include "../support/contest.hpp"

using status = std::unique_ptr<TF_Status, decltype(&TF_DeleteStatus)>;
status made_status() { return {TF_NewStatus(), TF_DeleteStatus}; }
void require(const status& s) {
  if (TF_GetCode(s.get()) != TF_OK) throw std::runtime_error(TF_Message(s.get()));
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct program {
  TF_Graph* graph = TF_NewGraph();
  TF_Session* session = nullptr;
  std::vector<TF_Output> feeds, fetches;
  std::vector<TF_Tensor*> values;
  std::vector<const TF_Operation*> operations;

  TF_Operation* operation(const std::string& name) const {
    TF_Operation* o = TF_GraphOperationByName(graph, name.c_str());
    if (o == nullptr) throw std::runtime_error("the graph has no " + name);
    return o;
  }

  program(const std::string& directory, int threads) {
    const status s = made_status();
    const std::string definition = contents(directory + "/graph.pb");
    TF_Buffer* buffer = TF_NewBufferFromString(definition.data(), definition.size());
    TF_ImportGraphDefOptions* import = TF_NewImportGraphDefOptions();
    TF_GraphImportGraphDef(graph, buffer, import, s.get());
    require(s);
    TF_DeleteImportGraphDefOptions(import);
    TF_DeleteBuffer(buffer);
    TF_SessionOptions* options = TF_NewSessionOptions();
    // ConfigProto: intra_op_parallelism_threads (2) and inter_op_parallelism_threads (5) as varints.
    const char n = static_cast<char>(threads), config[] = {0x10, n, 0x28, n};
    TF_SetConfig(options, config, sizeof config, s.get());
    require(s);
    session = TF_NewSession(graph, options, s.get());
    require(s);
    TF_DeleteSessionOptions(options);

    // Lines: feed|variable NAME DTYPE BYTES EXTENTS..., with the bytes in numbers.bin one after another; fetch NAME;
    // train NAME.
    std::ifstream numbers(directory + "/numbers.bin", std::ios::binary);
    std::istringstream lines(contents(directory + "/names.txt"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string kind, name;
      words >> kind >> name;
      if (kind == "fetch") {
        fetches.push_back({operation(name), 0});
      } else if (kind == "train") {
        operations.push_back(operation(name));
      } else {
        int type = 0;
        std::size_t bytes = 0;
        words >> type >> bytes;
        std::vector<std::int64_t> dims;
        for (std::int64_t d = 0; words >> d;) dims.push_back(d);
        TF_Tensor* t =
            TF_AllocateTensor(static_cast<TF_DataType>(type), dims.data(), static_cast<int>(dims.size()), bytes);
        numbers.read(static_cast<char*>(TF_TensorData(t)), static_cast<std::streamsize>(bytes));
        if (kind == "feed") {
          feeds.push_back({operation(name), 0});
          values.push_back(t);
        } else {
          const TF_Output given{operation(name + "_initial"), 0};
          const TF_Operation* assign = operation(name + "_assign");
          TF_SessionRun(session, nullptr, &given, &t, 1, nullptr, nullptr, 0, &assign, 1, nullptr, s.get());
          require(s);
          TF_DeleteTensor(t);
        }
      }
    }
  }

  double run() {
    const status s = made_status();
    std::vector<TF_Tensor*> results(fetches.size());
    TF_SessionRun(session, nullptr, feeds.data(), values.data(), static_cast<int>(feeds.size()), fetches.data(),
                  results.data(), static_cast<int>(fetches.size()), operations.data(),
                  static_cast<int>(operations.size()), nullptr, s.get());
    require(s);
    double sum = 0;
    for (TF_Tensor* t : results) {
      sum += TF_TensorType(t) == TF_INT64 ? static_cast<double>(last<std::int64_t>(t)) : last<float>(t);
      TF_DeleteTensor(t);
    }
    return sum;
  }

  template <class T>
  static T last(const TF_Tensor* t) {
    T x{};
    std::memcpy(&x, static_cast<const char*>(TF_TensorData(t)) + TF_TensorByteSize(t) - sizeof x, sizeof x);
    return x;
  }
};

int main(int argc, char** argv) {
  const char* graphs = std::getenv("BENCH_TENSORFLOW_GRAPHS");
  bench::rows all;
  if (argc == 3 && graphs != nullptr)
    all[argv[1]] = [directory = std::string(graphs) + "/" + argv[1]](int threads) -> bench::step {
      return [p = std::make_shared<program>(directory, threads)] { return p->run(); };
    };
  return bench::serve(argc, argv, all);
}
