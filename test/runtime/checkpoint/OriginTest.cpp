//===- OriginTest.cpp - trained elements back to where they came from -----===//

#include "runtime/checkpoint/TrainingState.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

using namespace pcc;
using namespace pcc::runtime;

namespace {
/// A tensor whose elements are their positions in the initializer.
struct Positions {
  std::vector<int64_t> shape;
  std::vector<int64_t> values;

  /// Returns the element at `index`, row-major.
  int64_t at(const std::vector<int64_t> &index) const {
    int64_t linear = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      linear = linear * shape[dim] + index[dim];
    return values[size_t(linear)];
  }
};

std::vector<int64_t> indexOf(int64_t linear,
                             const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; linear /= shape[dim])
    index[dim] = linear % shape[dim];
  return index;
}

/// Applies the definition of the step, element by element.
Positions applied(const WeightStep &step, const Positions &before) {
  Positions after = before;
  if (const auto *reshape = std::get_if<program::ReshapeT>(&step)) {
    after.shape = reshape->shape;
    return after;
  }
  const auto *transpose = std::get_if<program::TransposeT>(&step);
  const auto *slice = std::get_if<program::SliceT>(&step);
  if (transpose)
    for (size_t dim = 0; dim < after.shape.size(); ++dim)
      after.shape[dim] = before.shape[size_t(transpose->permutation[dim])];
  if (slice)
    after.shape[size_t(slice->dim)] = slice->size;
  after.values.resize(size_t(numElements(after.shape)));
  for (size_t i = 0; i < after.values.size(); ++i) {
    const std::vector<int64_t> to = indexOf(int64_t(i), after.shape);
    std::vector<int64_t> from = to;
    for (size_t dim = 0; transpose && dim < to.size(); ++dim)
      from[size_t(transpose->permutation[dim])] = to[dim];
    if (slice)
      from[size_t(slice->dim)] =
          slice->start + to[size_t(slice->dim)] * slice->step;
    after.values[i] = before.at(from);
  }
  return after;
}

class RandomSteps {
public:
  explicit RandomSteps(uint64_t seed) : engine(seed) {}

  WeightStep next(const std::vector<int64_t> &shape) {
    switch (below(3)) {
    case 0: {
      program::TransposeT step;
      step.permutation.resize(shape.size());
      std::iota(step.permutation.begin(), step.permutation.end(), 0);
      std::shuffle(step.permutation.begin(), step.permutation.end(), engine);
      return step;
    }
    case 1: {
      program::SliceT step;
      step.dim = int32_t(below(int64_t(shape.size())));
      const int64_t size = shape[size_t(step.dim)];
      step.size = 1 + below(size);
      step.step = step.size * 2 - 1 <= size ? 2 : 1;
      step.start = below(size - (step.size - 1) * step.step);
      if (below(2) == 0) {
        step.start += (step.size - 1) * step.step;
        step.step = -step.step;
      }
      return step;
    }
    default: {
      program::ReshapeT step;
      step.shape = {shape[0]};
      for (size_t dim = 1; dim < shape.size(); ++dim) {
        if (below(2) == 0)
          step.shape.push_back(1);
        step.shape.back() *= shape[dim];
      }
      return step;
    }
    }
  }

  int64_t below(int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(engine);
  }

private:
  std::mt19937_64 engine;
};

template <typename T> std::span<std::byte> bytesOf(std::vector<T> &values) {
  return std::as_writable_bytes(std::span(values));
}

program::CastT castTo(ElementType type) {
  program::CastT step;
  step.type = toProgram(type);
  return step;
}
} // namespace

/// Each element goes back to its origin, and the others stay.
TEST(Origin, PutBackInvertsAnySteps) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    RandomSteps random(seed);
    WeightOrigin origin{"w", ElementType::I64, {4, 6, 5}};
    Positions parameter{origin.shape, std::vector<int64_t>(120)};
    std::iota(parameter.values.begin(), parameter.values.end(), 0);
    for (int64_t i = random.below(5); i > 0; --i) {
      origin.steps.push_back(random.next(parameter.shape));
      parameter = applied(origin.steps.back(), parameter);
    }
    ASSERT_EQ(findOriginFault(origin, ElementType::I64, parameter.shape),
              nullptr);
    std::vector<int64_t> stored(120), trained, expected;
    std::iota(stored.begin(), stored.end(), 1000);
    expected = stored;
    for (size_t i = 0; i < parameter.values.size(); ++i) {
      trained.push_back(int64_t(i) * 7);
      expected[size_t(parameter.values[i])] = trained.back();
    }
    writeBack(origin, bytesOf(trained), bytesOf(stored));
    ASSERT_EQ(stored, expected) << "seed " << seed;
  }
}

/// A cast does not round elements that were not trained.
TEST(Origin, CastsConcernTrainedElementsOnly) {
  WeightOrigin origin{"w", ElementType::F32, {3}};
  program::SliceT slice;
  slice.start = 1;
  slice.size = 1;
  origin.steps = {castTo(ElementType::BF16), slice, castTo(ElementType::F64)};
  std::vector<float> stored = {0.1f, 0.2f, 0.3f};
  std::vector<double> trained = {0.3};
  ASSERT_EQ(findOriginFault(origin, ElementType::F64, std::vector<int64_t>{1}),
            nullptr);
  writeBack(origin, bytesOf(trained), bytesOf(stored));
  EXPECT_EQ(stored, (std::vector<float>{0.1f, 0.30078125f, 0.3f}));
}

namespace {
/// Returns the transpose of an initializer of 2 x 3, whole on every rank.
program::ParameterT transposedParameter() {
  program::ParameterT parameter;
  parameter.name = "w";
  parameter.stored_type = parameter.type = program::ElementType::F16;
  parameter.stored_shape = {2, 3};
  parameter.shape = {3, 2};
  parameter.layout = std::make_unique<program::LayoutT>(
      toProgram(wholeLayout(parameter.shape), {}));
  program::TransposeT transpose;
  transpose.permutation = {1, 0};
  auto step = std::make_unique<program::TransformStepT>();
  step->step.Set(std::move(transpose));
  parameter.transforms.push_back(std::move(step));
  parameter.trainable = true;
  return parameter;
}
} // namespace

TEST(Origin, WeightOfAProgram) {
  const StateTensor tensor = stateTensorOf(transposedParameter(), {}, nullptr);
  EXPECT_TRUE(tensor.trained);
  EXPECT_FALSE(tensor.isState);
  EXPECT_EQ(tensor.layout, wholeLayout(std::vector<int64_t>{3, 2}));
  EXPECT_EQ(tensor.origin.initializer, "w");
  EXPECT_EQ(tensor.origin.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(findOriginFault(tensor.origin, tensor.type, tensor.shape), nullptr);
}

TEST(Origin, StateOfAProgram) {
  program::ParameterT parameter = transposedParameter();
  parameter.transforms.clear();
  parameter.filled = true;
  parameter.state_of = "w";
  const StateTensor tensor = stateTensorOf(parameter, {}, nullptr);
  EXPECT_FALSE(tensor.trained);
  EXPECT_TRUE(tensor.isState);
  EXPECT_EQ(tensor.stateOf, "w");
  EXPECT_EQ(tensor.origin.initializer, "");
}

TEST(Origin, FaultsAreNamed) {
  const std::vector<int64_t> shape = {2, 3};
  const auto faultOf = [&](const WeightStep &step) {
    return findOriginFault({"w", ElementType::F32, shape, {step}},
                           ElementType::F32, shape);
  };
  program::TransposeT twice;
  twice.permutation = {0, 0};
  EXPECT_STREQ(faultOf(twice),
               "was transposed by a list that is not a permutation");
  program::SliceT outside;
  outside.dim = 1;
  outside.start = 2;
  outside.size = 2;
  EXPECT_STREQ(faultOf(outside), "was sliced outside of its tensor");
  program::ReshapeT more;
  more.shape = {7};
  EXPECT_STREQ(faultOf(more), "was reshaped to another number of elements");
  EXPECT_STREQ(faultOf(castTo(ElementType::F64)),
               "was made by steps that end in another type or shape");
}
