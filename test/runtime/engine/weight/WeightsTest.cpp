//===- WeightsTest.cpp - weights from files and generators ----------------===//

#include "runtime/engine/weight/Parameters.h"
#include "runtime/engine/weight/WeightView.h"
#include "runtime/program/WeightFile.h"
#include "test/runtime/engine/ThreadRun.h"

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
template <typename Step>
void addStep(program::ParameterT &parameter, Step step) {
  parameter.transforms.push_back(std::make_unique<program::TransformStepT>());
  parameter.transforms.back()->step.Set(std::move(step));
}

program::SliceT slice(int32_t dim, int64_t start, int64_t size, int64_t step) {
  program::SliceT made;
  made.dim = dim;
  made.start = start;
  made.size = size;
  made.step = step;
  return made;
}
program::TransposeT transpose(std::vector<int32_t> permutation) {
  program::TransposeT made;
  made.permutation = std::move(permutation);
  return made;
}
program::ReshapeT reshape(std::vector<int64_t> shape) {
  program::ReshapeT made;
  made.shape = std::move(shape);
  return made;
}
program::CastT cast(ElementType type) {
  program::CastT made;
  made.type = toProgram(type);
  return made;
}

/// Returns the elements 0, 1, 2, … of a stored shape, read whole through the
/// parameter's transforms.
std::vector<float> readWhole(const program::ParameterT &parameter,
                             const std::vector<int64_t> &shape) {
  const auto stored = iota(numElements(parameter.stored_shape));
  const WeightView view(parameter, stored.data());
  const Mesh mesh = test::makeMesh({1, 1});
  std::vector<float> values(size_t(numElements(shape)));
  view.read(wholeLayout(shape), mesh, {0, 0}, values.data());
  return values;
}
} // namespace

TEST(WeightView, TransposeAndSliceAreStrides) {
  program::ParameterT parameter;
  parameter.stored_shape = {3, 4};
  addStep(parameter, transpose({1, 0}));
  addStep(parameter, slice(0, 3, 2, -2));
  EXPECT_EQ(readWhole(parameter, {2, 3}),
            (std::vector<float>{3, 7, 11, 1, 5, 9}));
}

TEST(WeightView, ReshapeOfAViewStaysAView) {
  program::ParameterT parameter;
  parameter.stored_shape = {2, 6};
  addStep(parameter, slice(0, 1, 1, 1));
  addStep(parameter, reshape({3, 1, 2}));
  addStep(parameter, transpose({2, 1, 0}));
  EXPECT_EQ(readWhole(parameter, {2, 1, 3}),
            (std::vector<float>{6, 8, 10, 7, 9, 11}));
}

TEST(WeightView, ReshapeAcrossStridesCopies) {
  program::ParameterT parameter;
  parameter.stored_shape = {2, 3};
  addStep(parameter, transpose({1, 0}));
  addStep(parameter, reshape({2, 3}));
  EXPECT_EQ(readWhole(parameter, {2, 3}),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(WeightView, CastsApplyInOrder) {
  program::ParameterT parameter;
  parameter.stored_shape = {3};
  addStep(parameter, cast(ElementType::Bool));
  addStep(parameter, cast(ElementType::F32));
  EXPECT_EQ(readWhole(parameter, {3}), (std::vector<float>{0, 1, 1}));
}

TEST(WeightView, RandomElementsFollowTheStoredIndex) {
  program::ParameterT plain, turned;
  plain.stored_shape = turned.stored_shape = {40, 50};
  addStep(turned, transpose({1, 0}));
  const RandomTensor random = randomWeight(3, "w", ElementType::F32);
  const Mesh mesh = test::makeMesh({1, 2, 1});
  std::vector<float> a(2000), b(1000);
  const std::vector<int64_t> shape = {40, 50};
  WeightView(plain, random).read(wholeLayout(shape), mesh, {0, 0, 0}, a.data());
  const Layout half = test::makeLayout({{{50, {{"tp", 1, 2}}}}, {{40}}});
  WeightView(turned, random).read(half, mesh, {0, 1, 0}, b.data());
  for (int64_t i = 0; i < 25; ++i)
    for (int64_t j = 0; j < 40; ++j)
      ASSERT_EQ(b[size_t(i * 40 + j)], a[size_t(j * 50 + 25 + i)]);
}

TEST(WeightView, InPlaceOnlyWhenDenseAlignedAndUnpadded) {
  program::ParameterT parameter;
  parameter.stored_shape = {4, 2};
  const auto stored = iota(8);
  const Mesh mesh = test::makeMesh({1, 3, 1});
  const WeightView view(parameter, stored.data());
  const Layout rows = test::makeLayout({{{4, {{"tp", 1, 3}}}}, {{2}}});
  EXPECT_EQ(view.findInPlace(rows, mesh, {0, 1, 0}), stored.data() + 4);
  EXPECT_EQ(view.findInPlace(rows, mesh, {0, 2, 0}), nullptr);
  const Layout columns = test::makeLayout({{{4}}, {{2, {{"tp", 1, 3}}}}});
  EXPECT_EQ(view.findInPlace(columns, mesh, {0, 0, 0}), nullptr);
  const WeightView unaligned(parameter,
                             reinterpret_cast<const char *>(stored.data()) + 1);
  const std::vector<int64_t> shape = {4, 2};
  EXPECT_EQ(unaligned.findInPlace(wholeLayout(shape), mesh, {0, 0, 0}),
            nullptr);
}

namespace {
/// y = x w, where w is stored transposed at an odd offset of a file and split
/// over columns.
class WeightsOnDisk : public testing::Test {
protected:
  WeightsOnDisk() : builder({{"pp", 1}, {"tp", 2}}) {
    const std::string path = folder.path + "/weights.bin";
    std::ofstream out(path, std::ios::binary);
    out << "abc";
    out.write(reinterpret_cast<const char *>(w.data()), long(w.size() * 4));
    out.close();
    auto &file = builder.tables.files.emplace_back(
        std::make_unique<program::WeightFileT>());
    EXPECT_TRUE(describeWeightFile(path, *file).ok());
    file->path = "weights.bin";
    builder.tables.weights_root = folder.path;
    const Layout columns = test::makeLayout({{{4}}, {{6, {builder.axis(1)}}}});
    const int weight = builder.fileParameter("w", 0, 3, {4, 6}, columns);
    program::ParameterT &parameter = *builder.tables.parameters[0];
    parameter.stored_shape = {6, 4};
    addStep(parameter, transpose({1, 0}));
    const int x = builder.input("x", ElementType::F32, {2, 4},
                                test::makeLayout({{{2}}, {{4}}}));
    const int y =
        builder.output("y", ElementType::F32, {2, 6},
                       test::makeLayout({{{2}}, {{6, {builder.axis(1)}}}}));
    builder.matmul(x, weight, y, 2, 3, 4);
    builder.runAll();
  }

  Status run() {
    ThreadRun ranks;
    ranks.add(builder);
    return ranks.run(
        {{"x", folder.write("x.npy", ElementType::F32, {2, 4}, iota(8))}},
        folder.path);
  }

  Folder folder;
  TestProgram builder;
  std::vector<float> w = iota(24);
};
} // namespace

TEST_F(WeightsOnDisk, AreReadFromTheirFile) {
  const Status status = run();
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> expected;
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 6; ++j) {
      float sum = 0;
      for (size_t k = 0; k < 4; ++k)
        sum += float(i * 4 + k) * w[j * 4 + k];
      expected.push_back(sum);
    }
  EXPECT_EQ(folder.read<float>("y.npy"), expected);
}

TEST_F(WeightsOnDisk, ChangedFileIsStale) {
  std::ofstream(folder.path + "/weights.bin", std::ios::app) << "x";
  const Status status = run();
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_NE(status.message().find("from 99 to 100 bytes"), std::string::npos)
      << status.message();
}

TEST_F(WeightsOnDisk, MissingFileIsStale) {
  std::filesystem::remove(folder.path + "/weights.bin");
  EXPECT_EQ(run().code(), DamagedBundle);
}

TEST_F(WeightsOnDisk, AMissingHashIsNotPassedOver) {
  ThreadRun ranks;
  ranks.add(builder);
  RunOptions options;
  options.inputs = {
      {"x", folder.write("x.npy", ElementType::F32, {2, 4}, iota(8))}};
  options.quiet = options.checkWeights = true;
  testing::internal::CaptureStderr();
  EXPECT_TRUE(ranks.run(options).ok());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("weights.bin' was too large to be hashed"),
            std::string::npos);
  EXPECT_EQ(said.find("note:"), said.rfind("note:")) << said;
}
