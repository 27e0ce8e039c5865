// Whose kernels a session asks for, and what it says where they are not there.
#include <flowgraph/engine/choose_provider.hpp>

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include <flowgraph/engine/built_in_providers.hpp>

namespace {

using namespace flowgraph;

// The environment variable for one scope.
class environment {
 public:
  explicit environment(const char* value) {
    if (const char* was = std::getenv(name)) before_ = was;
    set(value);
  }
  ~environment() { set(before_.empty() ? nullptr : before_.c_str()); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  static constexpr const char* name = "FLOWGRAPH_KERNELS";
  static void set(const char* value) {
    if (value != nullptr)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }
  std::string before_;
};

std::string refusal(kernels asked) {
  try {
    detail::choose_provider(asked, detail::built_in_providers());
  } catch (const argument_error& e) {
    CHECK(e.why() == problem::no_such_kernels);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an option decides before the environment variable") {
  const environment e("nonsense");
  CHECK(detail::choose_provider(kernels::eigen, detail::built_in_providers()) == nullptr);
  CHECK(refusal(kernels::automatic)
            .find("must be auto, eigen or onednn, not nonsense; this program was built with eigen") !=
        std::string::npos);
}

TEST_CASE("without an option the environment variable decides") {
  const environment e("eigen");
  CHECK(detail::choose_provider(kernels::automatic, detail::built_in_providers()) == nullptr);
}

#if FLOWGRAPH_ONEDNN
TEST_CASE("oneDNN is asked where it was built in") {
  const environment none(nullptr);
  CHECK(detail::choose_provider(kernels::automatic, detail::built_in_providers()) == &detail::onednn::where_faster);
  CHECK(detail::choose_provider(kernels::onednn, detail::built_in_providers()) == &detail::onednn::everywhere);
  const environment named("onednn");
  CHECK(detail::choose_provider(kernels::automatic, detail::built_in_providers()) == &detail::onednn::everywhere);
}
#else
TEST_CASE("oneDNN is refused where it was not built in") {
  const environment none(nullptr);
  CHECK(detail::choose_provider(kernels::automatic, detail::built_in_providers()) == nullptr);
  CHECK(refusal(kernels::onednn).find("session: kernels = onednn; this program was built with eigen alone") !=
        std::string::npos);
  const environment named("onednn");
  CHECK(refusal(kernels::automatic).find("FLOWGRAPH_KERNELS = onednn") != std::string::npos);
}
#endif
