// Metrics over batches, beside plain loops over all data at once.
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <flowgraph/define.hpp>
#include <flowgraph/session/session.hpp>
#include "../../bench/support/inputs.hpp"

namespace fg = flowgraph;
namespace metrics = flowgraph::metrics;

namespace {

constexpr fg::dim batch{"batch"};
constexpr int classes = 5;

constexpr auto model = fg::define([](fg::graph& g) {
  auto logits = g.placeholder<float, batch, classes>("logits");
  auto labels = g.placeholder<std::int64_t, batch>("labels");
  auto scores = g.placeholder<float, batch>("scores");
  const auto name = [&g](std::string_view text, const auto& m) { return g.name(text, m.value), m; };
  const auto right = fg::equal(labels, 2);
  const auto mean = name("mean", metrics::mean(logits, "mean_state"));
  const auto accuracy = name("accuracy", metrics::accuracy(logits, labels, "accuracy_state"));
  const auto top = name("top2", metrics::top_k_accuracy<2>(logits, labels, "top2_state"));
  const auto precision = name("precision", metrics::precision(scores > 0.5, right, "precision_state"));
  const auto recall = name("recall", metrics::recall(scores > 0.5, right, "recall_state"));
  const auto auc = name("auc", metrics::auc(scores, right, "auc_state"));
  const auto confusion =
      name("confusion", metrics::confusion_matrix<classes>(fg::argmax<1>(logits), labels, "confusion_state"));
  g.name("update", group(mean.update, accuracy.update, top.update, precision.update, recall.update, auc.update,
                         confusion.update));
  g.name("reset",
         group(mean.reset, accuracy.reset, top.reset, precision.reset, recall.reset, auc.reset, confusion.reset));
});

struct data {
  explicit data(std::uint32_t salt, std::size_t n)
      : logits(bench::numbers(n * classes, salt, 1)),
        labels(bench::integers(n, salt + 1, classes)),
        scores(bench::numbers(n, salt + 2, 0.5f)) {
    for (float& s : scores) s += 0.5f;
  }
  std::vector<float> logits;
  std::vector<std::int64_t> labels;
  std::vector<float> scores;
};

// The same by hand.
struct expected {
  explicit expected(const std::vector<data>& all) {
    double right = 0, second = 0, both = 0, predicted = 0, wanted = 0, n = 0, sum = 0;
    std::vector<double> positives, negatives;
    for (const data& d : all)
      for (std::size_t i = 0; i < d.labels.size(); ++i, ++n) {
        const float* row = d.logits.data() + i * classes;
        int greater = 0;
        std::int64_t best = 0;
        for (int c = 0; c < classes; ++c) {
          sum += static_cast<double>(row[c]);
          greater += row[c] > row[d.labels[i]];
          if (row[c] > row[best]) best = c;
        }
        right += greater == 0;
        second += greater < 2;
        ++confusion[d.labels[i]][best];
        const bool is = d.labels[i] == 2, says = d.scores[i] > 0.5f;
        both += is && says, predicted += says, wanted += is;
        (is ? positives : negatives).push_back(std::floor(static_cast<double>(d.scores[i]) * 200));
      }
    for (const double p : positives)
      for (const double q : negatives) auc += p > q ? 1 : p == q ? 0.5 : 0;
    auc /= static_cast<double>(positives.size() * negatives.size());
    mean = sum / (n * classes), accuracy = right / n, top2 = second / n, precision = both / predicted;
    recall = both / wanted;
  }
  double mean, accuracy, top2, precision, recall, auc = 0;
  int confusion[classes][classes] = {};
};

}  // namespace

TEST_CASE("metrics add up over batches of any size, and begin anew") {
  static_assert(model.parameters() == 0);  // nobody trains what counts
  fg::session<model> s({.threads = 1});
  for (std::uint32_t round = 0; round < 2; ++round) {
    const std::vector<data> all{data(10 * round, 40), data(10 * round + 3, 7), data(10 * round + 6, 1)};
    for (const data& d : all)
      s.run<"update">(fg::feed<"logits">(d.logits), fg::feed<"labels">(d.labels), fg::feed<"scores">(d.scores));
    const auto [mean, accuracy, top2, precision, recall, auc, confusion] =
        s.run<"mean", "accuracy", "top2", "precision", "recall", "auc", "confusion">();
    const expected e(all);
    const auto near = [](double x) { return doctest::Approx(x).epsilon(1e-6); };
    CHECK(static_cast<double>(mean) == near(e.mean));
    CHECK(static_cast<double>(accuracy) == near(e.accuracy));
    CHECK(static_cast<double>(top2) == near(e.top2));
    CHECK(static_cast<double>(precision) == near(e.precision));
    CHECK(static_cast<double>(recall) == near(e.recall));
    CHECK(static_cast<double>(auc) == near(e.auc));
    for (int i = 0; i < classes; ++i)
      for (int k = 0; k < classes; ++k) CHECK(confusion(i, k) == e.confusion[i][k]);
    s.run<"reset">();
  }
  CHECK(std::isnan(s.run<"accuracy">()));
}

TEST_CASE("a value that is fetched with its update includes the batch") {
  fg::session<model> s({.threads = 1});
  const data d(50, 9);
  const float both = s.run<"accuracy", "update">(fg::feed<"logits">(d.logits), fg::feed<"labels">(d.labels),
                                                 fg::feed<"scores">(d.scores));
  CHECK(both == s.run<"accuracy">());
}
