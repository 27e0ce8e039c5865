// Runs nodes that somebody else made up, and writes down what comes out: fuzz.py compares that with NumPy. Cases are in
// the file that FLOWGRAPH_FUZZ_CASES names, results go to the one that FLOWGRAPH_FUZZ_RESULTS names, each as soon as it
// is there: who ends the program is the first that has none.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <flowgraph/core/convert.hpp>
#include <flowgraph/define.hpp>
#include <flowgraph/session/engine_here.hpp>
#include <flowgraph/session/library_kernels.hpp>

namespace fg = flowgraph;
namespace fgd = flowgraph::detail;
namespace ops = flowgraph::ops;

namespace {

template <class... Ops>
std::map<std::string, const fg::op_def*> by_name() {
  return {{std::string(Ops::name), &fg::op_def_of<Ops>}...};
}

const std::map<std::string, const fg::op_def*>& known_ops() {
  static const auto all = by_name<
      ops::neg, ops::abs, ops::sign, ops::exp, ops::log, ops::log1p, ops::expm1, ops::sqrt, ops::rsqrt, ops::square,
      ops::reciprocal, ops::sin, ops::cos, ops::tan, ops::tanh, ops::sigmoid, ops::softplus, ops::relu, ops::floor,
      ops::ceil, ops::round, ops::isnan, ops::isfinite, ops::logical_not, ops::add, ops::sub, ops::mul, ops::div,
      ops::floordiv, ops::mod, ops::pow, ops::maximum, ops::minimum, ops::equal, ops::not_equal, ops::less,
      ops::less_equal, ops::greater, ops::greater_equal, ops::logical_and, ops::logical_or, ops::logical_xor,
      ops::select, ops::cast, ops::broadcast_to, ops::reshape, ops::transpose, ops::concat, ops::split, ops::slice,
      ops::pad, ops::strided_slice, ops::strided_slice_gradient, ops::tile, ops::reverse, ops::reduce_sum,
      ops::reduce_prod, ops::reduce_max, ops::reduce_min, ops::reduce_any, ops::reduce_all, ops::logsumexp,
      ops::softmax, ops::log_softmax, ops::argmax, ops::argmin, ops::argsort, ops::top_k, ops::cumsum, ops::gather,
      ops::gather_gradient, ops::gather_nd, ops::scatter_nd, ops::take_along_axis, ops::take_along_axis_gradient,
      ops::embedding_lookup, ops::indexed_slices, ops::sum_duplicates, ops::lookup_some, ops::part_positions,
      ops::dynamic_stitch, ops::segment_sum, ops::set_rows, ops::add_rows, ops::one_hot, ops::range, ops::shape,
      ops::size, ops::matmul, ops::band_part, ops::diag_part, ops::diag, ops::max_pool, ops::avg_pool, ops::conv2d>();
  return all;
}

constexpr std::array<const char*, 9> type_names{"bool", "i8", "u8", "i32", "i64", "f16", "bf16", "f32", "f64"};
constexpr std::array<fg::dtype, 9> types{fg::dtype::boolean,  fg::dtype::int8,    fg::dtype::uint8,
                                         fg::dtype::int32,    fg::dtype::int64,   fg::dtype::float16,
                                         fg::dtype::bfloat16, fg::dtype::float32, fg::dtype::float64};

class reader {
 public:
  explicit reader(const char* path) : file_(path) {}
  bool next() { return static_cast<bool>(file_ >> word_); }
  const std::string& word() {
    REQUIRE(next());
    return word_;
  }
  const std::string& last() const { return word_; }
  std::int64_t number() { return std::stoll(word()); }
  fg::dtype type() {
    word();
    for (std::size_t i = 0; i < types.size(); ++i)
      if (word_ == type_names[i]) return types[i];
    return fg::dtype::none;
  }
  // Numbers, and names with what is added to them.
  fg::extents shape(fg::graph_data& g) {
    fg::extents e;
    const std::int64_t rank = number();
    for (std::int64_t i = 0; i < rank; ++i) {
      word();
      const fgd::extent_polynomial p{std::string_view(word_)};
      std::int64_t n = 0;
      e.push(p.constant(n) ? n : g.symbols.intern(p.text().view()));
    }
    return e;
  }
  std::vector<std::byte> bytes() {
    word();
    std::vector<std::byte> all;
    for (std::size_t i = 0; word_ != "-" && i + 1 < word_.size(); i += 2)
      all.push_back(static_cast<std::byte>(std::stoi(word_.substr(i, 2), nullptr, 16)));
    return all;
  }

 private:
  std::ifstream file_;
  std::string word_;
};

struct operand {
  fgd::borrowed feed;
  std::vector<std::int64_t> memory;  // for its alignment
};

// A case: op, words, result asked for, operands. Each of those: its type, whether it is fed or part of the graph, its
// shape there, its numbers, its extents.
void run(reader& in, std::ofstream& out) {
  fg::graph_data g;
  const fg::op_def& op = *known_ops().at(in.last());
  std::vector<std::int64_t> words(static_cast<std::size_t>(in.number()));
  for (std::int64_t& w : words) w = in.number();
  const fg::dtype declared_type = in.type();
  const fg::extents declared = in.shape(g);
  std::vector<operand> operands(static_cast<std::size_t>(in.number()));
  std::vector<int> ids, feeds;
  std::vector<const fgd::borrowed*> data;
  for (operand& o : operands) {
    const fg::dtype type = in.type();
    const bool fed = in.word() == "fed";
    const fg::extents shape = in.shape(g);
    const std::vector<std::byte> bytes = in.bytes();
    o.memory.resize(bytes.size() / 8 + 1);
    if (!bytes.empty()) std::memcpy(o.memory.data(), bytes.data(), bytes.size());
    o.feed = {o.memory.data(), type, false, shape.rank, {}, 1};
    for (int i = 0; i < shape.rank; ++i) o.feed.count *= o.feed.dims[i] = in.number();
    if (fed) {
      ids.push_back(g.append(fg::op_def_of<ops::placeholder>, g.intern_shape(shape), type, nullptr, 0));
      feeds.push_back(ids.back());
      data.push_back(&o.feed);
      continue;
    }
    fgd::vec<std::int64_t> literal;
    fgd::with_type(type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < o.feed.count; ++i)
        literal.push(ops::literal_word(reinterpret_cast<const T*>(o.memory.data())[i]));
    });
    const fg::op_def& source = o.feed.count == 1 ? fg::op_def_of<ops::constant> : fg::op_def_of<ops::literal>;
    ids.push_back(g.append(source, g.intern_shape(shape), type, nullptr, 0, literal.begin(), literal.size()));
  }
  const int y = fgd::append_inferred(g, op, ids.data(), static_cast<int>(ids.size()), words.data(),
                                     static_cast<int>(words.size()), declared, declared_type);
  std::vector<int> fetches{y};
  if (g.nodes[y].outputs > 1) {
    fetches.clear();
    for (int k = 1; k <= g.nodes[y].outputs; ++k) fetches.push_back(y + k);
  }
  const fgd::engine_handle engine(fgd::make_engine({.threads = 1}, g.view(), &fgd::find_resource));
  const std::shared_ptr<fgd::prepared_step> step =
      fgd::prepare(*engine, g.view(), {fetches.data(), static_cast<int>(fetches.size())},
                   {feeds.data(), static_cast<int>(feeds.size())}, fgd::library_kernels());
  data.push_back(nullptr);
  fgd::run(*engine, *step, g.view(), {data.data(), nullptr}, [&](const fgd::step_values& done) {
    out << "ok " << done.size() << '\n';
    for (std::size_t k = 0; k < done.size(); ++k) {
      const fg::array_view v = done.view(k);
      const auto size = static_cast<std::size_t>(v.size() * fg::size_of(v.type));
      std::vector<std::int64_t> copy(size / 8 + 1);
      done.copy(k, copy.data());
      for (std::size_t i = 0; i < types.size(); ++i)
        if (types[i] == v.type) out << type_names[i];
      out << ' ' << v.rank;
      for (int i = 0; i < v.rank; ++i) out << ' ' << v.dim(i);
      out << ' ' << (size == 0 ? "-" : "");
      const auto* byte = reinterpret_cast<const unsigned char*>(copy.data());
      for (std::size_t i = 0; i < size; ++i)
        out << "0123456789abcdef"[byte[i] >> 4] << "0123456789abcdef"[byte[i] & 15];
      out << '\n';
    }
  });
}

}  // namespace

TEST_CASE("fuzz: nodes from a file") {
  const char *cases = std::getenv("FLOWGRAPH_FUZZ_CASES"), *results = std::getenv("FLOWGRAPH_FUZZ_RESULTS");
  if (cases == nullptr || results == nullptr) return;  // fuzz.py runs it
  reader in(cases);
  std::ofstream out(results);
  while (in.next()) {
    try {
      run(in, out);
    } catch (const fg::error& e) {
      out << "refused " << e.what() << '\n';
    }
    out.flush();
  }
}
