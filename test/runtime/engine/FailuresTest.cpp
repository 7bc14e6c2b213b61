//===- FailuresTest.cpp - what bad inputs get -----------------------------===//

#include "test/runtime/engine/ThreadRun.h"

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// Checks ids [2, 4], split over rows, against a table of 10 rows.
class Failures : public testing::Test {
protected:
  Failures() {
    TestProgram builder({{"pp", 1}, {"dp", 2}});
    const Layout rows = test::makeLayout({{{2, {builder.axis(1)}}}, {{4}}});
    const int ids =
        builder.input("ids", ElementType::I64, {2, 4}, rows, /*indexBound=*/10);
    auto &check = builder.instruction<program::CheckIndicesT>("Gather_0");
    check.buffer = ids;
    check.sizes = {10};
    check.from_zero = true;
    check.input = "ids";
    check.table_name = "wte";
    builder.output("y", ids, {2, 4}, rows);
    builder.runAll();
    run.add(builder);
  }

  std::string ids(const std::vector<int64_t> &shape,
                  std::vector<int64_t> values = {}) {
    values.resize(size_t(numElements(shape)));
    return folder.write("ids.npy", ElementType::I64, shape, values);
  }

  Status with(const std::string &path) {
    return run.run({{"ids", path}}, folder.path + "/out");
  }

  ThreadRun run;
  Folder folder;
};
} // namespace

TEST_F(Failures, GoodIndicesPass) {
  EXPECT_TRUE(with(ids({2, 4}, {0, 9})).ok());
}

TEST_F(Failures, RandomIndicesAreWithinTheirTable) {
  RunOptions options;
  options.randomInputs = 3;
  options.quiet = true;
  EXPECT_TRUE(run.run(options).ok());
}

TEST_F(Failures, IndexOutsideItsTableOnOneRank) {
  const Status status = with(ids({2, 4}, {0, 0, 0, 0, 0, 10}));
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "index 10 in 'ids' is outside wte, which has "
                              "indices 0..9 (node 'Gather_0')");
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/out"));
}

TEST_F(Failures, MissingInput) {
  const Status status = run.run({}, folder.path);
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "input 'ids' (i64 [2, 4]) is missing");
}

TEST_F(Failures, UnknownInput) {
  const Status status =
      run.run({{"ids", ids({2, 4})}, {"mask", ids({2, 4})}}, folder.path);
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "the model has no input 'mask'; nearest: 'ids'");
}

TEST_F(Failures, WrongShape) {
  const Status status = with(ids({4, 2}));
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "input 'ids' has shape [4, 2], not [2, 4]");
}

TEST_F(Failures, WrongType) {
  const Status status =
      with(folder.write("f.npy", ElementType::F32, {2, 4}, iota(8)));
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "input 'ids' has type f32, not i64");
}

TEST_F(Failures, WrongWorldSize) {
  TestProgram builder({{"pp", 1}, {"dp", 2}});
  builder.runAll();
  const auto sealed = sealProgram(builder.tables, {});
  std::vector<std::byte> storage(sealed.size() + 64);
  auto *at = reinterpret_cast<std::byte *>(
      (reinterpret_cast<uintptr_t>(storage.data()) + 63) / 64 * 64);
  std::memcpy(at, sealed.data(), sealed.size());
  const ProgramImage image{at, sealed.size(), nullptr, 0, nullptr};
  const auto worlds = createThreadWorlds(1);
  const auto device = createCpuDevice(1);
  const Status status = createRank(image, {}, *worlds[0], *device)->run();
  EXPECT_EQ(status.code(), WrongWorld);
  EXPECT_EQ(status.message(),
            "the bundle was compiled for 2 ranks, but the run has 1");
}
