//===- RandomTest.cpp - Random strided, uneven and partial shardings ------===//
#include "sharding/ShardingText.h"
#include "test/passes/plan/reshard/AllShardings.h"
#include "test/passes/plan/reshard/Simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace pcc::dist;
using namespace pcc::plan;

namespace {

class RandomShardings {
public:
  RandomShardings(unsigned seed, SubAxes digits)
      : random(seed), digits(std::move(digits)) {}

  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  }

  Shape shape() {
    static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 18, 24};
    Shape shape(1 + below(3));
    for (int64_t &size : shape)
      size = sizes[below(shape.size() == 3 ? 6 : 11)];
    return shape;
  }

  /// Cuts each dim into up to three factors and assigns the digits.
  Sharding sharding(const Shape &shape) {
    Sharding result;
    std::vector<Factor *> places;
    for (int64_t size : shape)
      result.dims.push_back({factors(size)});
    for (DimSharding &dim : result.dims)
      for (Factor &factor : dim.factors)
        places.push_back(&factor);
    std::shuffle(digits.begin(), digits.end(), random);
    for (const SubAxis &digit : digits) {
      int64_t choice = below(static_cast<int64_t>(places.size()) + 2);
      if (choice < static_cast<int64_t>(places.size()))
        places[choice]->axes.push_back(digit);
      else if (choice == static_cast<int64_t>(places.size()))
        result.partials.push_back({digit, ReductionKind::Sum});
    }
    return canonical(result);
  }

private:
  std::vector<Factor> factors(int64_t size) {
    std::vector<Factor> result;
    for (int i = 0; i < 2; ++i) {
      int64_t divisor = 1 + below(size);
      if (size % divisor != 0)
        continue;
      result.push_back({divisor, {}});
      size /= divisor;
    }
    result.push_back({size, {}});
    return result;
  }

  std::mt19937 random;
  SubAxes digits;
};

TEST(RandomReshards, EveryPlanDoesWhatItSays) {
  Mesh mesh{{{"x", 4}, {"y", 3}, {"z", 2}}};
  RandomShardings random(7,
                         {{"x", 1, 2}, {"x", 2, 2}, {"y", 1, 3}, {"z", 1, 2}});
  for (int i = 0; i < 3000; ++i) {
    Shape shape = random.shape();
    Sharding from = random.sharding(shape), to = random.sharding(shape);
    ReshardPlan plan = planReshard(from, to, shape, 2, mesh);
    std::string text = toString(from, &mesh) + " -> " + toString(to, &mesh);
    ASSERT_EQ(simulate(plan, from, to, shape, 2, mesh), "") << text;
    if (from.partials.empty() && to.partials.empty()) {
      ASSERT_EQ(plan.receivedBytes,
                2 * movementLowerBound(from, to, shape, mesh))
          << text;
    }
  }
}

} // namespace
