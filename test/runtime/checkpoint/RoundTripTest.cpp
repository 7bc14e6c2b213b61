//===- RoundTripTest.cpp - saved on one plan, loaded on another -----------===//

#include "test/runtime/checkpoint/TrainingRun.h"

#include "runtime/checkpoint/Manifest.h"

#include <numeric>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
const Mesh single = test::makeMesh({1, 1});
const SubAxis tp{"tp", 1, 2};

/// Returns tensors of all element sizes, with layouts for `random`'s mesh.
std::vector<Declared> declare(RandomLayouts &random,
                              const std::vector<std::vector<int64_t>> &shapes) {
  const std::vector<ElementType> types = {ElementType::F32, ElementType::BF16,
                                          ElementType::I64, ElementType::Bool};
  std::vector<Declared> declared;
  for (size_t i = 0; i < shapes.size(); ++i)
    declared.push_back({"block." + std::to_string(i) + "/weight",
                        types[i % types.size()], shapes[i],
                        random.layout(shapes[i])});
  return declared;
}

uint64_t savedBytes(const Manifest &manifest) {
  uint64_t bytes = 0;
  for (const SavedTensor &tensor : manifest.tensors)
    for (const SavedPiece &piece : tensor.pieces)
      bytes += piece.bytes;
  return bytes;
}
} // namespace

/// Meshes, layouts and numbers of ranks differ, with uneven, nested and
/// sub-axis factors among them.
TEST(RoundTrip, AnyPlanToAnyOther) {
  const Folder folder;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    RandomLayouts before(seed), after(seed + 1000);
    std::vector<std::vector<int64_t>> shapes = {{}};
    for (int i = 0; i < 5; ++i)
      shapes.push_back(before.shape());
    CheckpointOptions options;
    options.directory = folder.path + "/" + std::to_string(seed);
    options.inBackground = seed % 2 == 1;
    const Status status =
        save(declare(before, shapes), before.mesh(), options, 7);
    ASSERT_TRUE(status.ok()) << status.message();
    const LoadResult result =
        load(declare(after, shapes), after.mesh(), options.directory);
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    ASSERT_TRUE(result.holdsWhatItSays) << "seed " << seed;
    ASSERT_EQ(result.loaded.position.step, 7);
  }
}

/// Stages become one rank and one rank becomes stages. A weight that two stages
/// share is saved by one of them.
TEST(RoundTrip, StagesWithATiedWeight) {
  const Folder folder;
  const Layout split = test::makeLayout({{{6, {tp}}}, {{3}}}),
               whole = test::makeLayout({{{6}}, {{3}}});
  const std::vector<Declared> staged = {
      {"tied", ElementType::F32, {6, 3}, split},
      {"first", ElementType::F32, {6, 3}, whole, {0}},
      {"last", ElementType::F32, {6, 3}, split, {1}}};
  std::vector<Declared> joined = staged;
  for (Declared &tensor : joined) {
    tensor.layout = whole;
    tensor.positions = {};
  }
  const Mesh stages = test::makeMesh({2, 2, 1});
  CheckpointOptions options;
  options.directory = folder.path + "/a";
  ASSERT_TRUE(save(staged, stages, options, 3).ok());
  Manifest manifest;
  ASSERT_TRUE(
      readManifest(options.directory + "/step-00000003/manifest.json", manifest)
          .ok());
  EXPECT_EQ(savedBytes(manifest), 3u * 6 * 3 * 4);
  EXPECT_EQ(manifest.world, 4);
  EXPECT_TRUE(load(joined, single, options.directory).holdsWhatItSays);

  options.directory = folder.path + "/b";
  ASSERT_TRUE(save(joined, single, options, 4).ok());
  EXPECT_TRUE(load(staged, stages, options.directory).holdsWhatItSays);
}

TEST(RoundTrip, TensorsAndPartsWithoutElements) {
  const Folder folder;
  const Mesh four = test::makeMesh({1, 4, 1});
  const SubAxis axis{"tp", 1, 4};
  const std::vector<Declared> declared = {
      {"none",
       ElementType::F32,
       {0, 3},
       test::makeLayout({{{0, {axis}}}, {{3}}})},
      {"few", ElementType::I64, {2}, test::makeLayout({{{2, {axis}}}})},
      {"step", ElementType::I64, {}, Layout{}, {}, false, true}};
  CheckpointOptions options;
  options.directory = folder.path;
  ASSERT_TRUE(save(declared, four, options, 1).ok());
  const LoadResult result = load(declared, four, folder.path);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_TRUE(result.holdsWhatItSays);
  // Ranks 2 and 3 own no tensor.
  EXPECT_EQ(folder.files(),
            (std::vector<std::string>{"latest", "step-00000001",
                                      "step-00000001/manifest.json",
                                      "step-00000001/rank-000.safetensors",
                                      "step-00000001/rank-001.safetensors"}));
}

/// A save of an older step makes it the newest; each step can be requested.
TEST(RoundTrip, LatestAndOneStepAlone) {
  const Folder folder;
  const std::vector<Declared> declared = {
      {"w", ElementType::F32, {5}, wholeLayout(std::vector<int64_t>{5})}};
  CheckpointOptions options;
  options.directory = folder.path;
  for (int64_t step : {4, 8, 6})
    ASSERT_TRUE(save(declared, single, options, step).ok());
  EXPECT_EQ(load(declared, single, folder.path).loaded.position.step, 6);
  const LoadResult alone =
      load(declared, single, folder.path + "/step-00000008");
  EXPECT_EQ(alone.loaded.position.step, 8);
  EXPECT_TRUE(alone.holdsWhatItSays);
}

TEST(RoundTrip, OldOnesGoWhereAskedFor) {
  const Folder folder;
  const std::vector<Declared> declared = {
      {"w", ElementType::F32, {5}, wholeLayout(std::vector<int64_t>{5})}};
  CheckpointOptions options;
  options.directory = folder.path;
  options.keep = 2;
  for (int64_t step : {1, 2, 3, 3})
    ASSERT_TRUE(save(declared, single, options, step).ok());
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"latest", "step-00000002",
                                             "step-00000003"}));
}

/// One writer saves repeatedly while the tensors change.
TEST(RoundTrip, SavesFollowEachOtherInTheBackground) {
  const Folder folder;
  RandomLayouts random(5);
  const std::vector<Declared> declared = declare(random, {{12, 6}, {8}});
  const Status status =
      test::firstOf(test::onRanks(numRanks(random.mesh()), [&](World &world) {
        test::RankState state(declared, random.mesh(), world.rank());
        CheckpointOptions options;
        options.directory = folder.path;
        options.inBackground = true;
        CheckpointWriter writer;
        Status status =
            writer.open(options, state.tensors, state.mesh, state.at, world);
        for (int64_t step = 1; step <= 20 && status.ok(); ++step) {
          state.fill(step);
          status = writer.save(test::RankState::positionOf(step));
        }
        state.fill(-1);
        return status.ok() ? writer.finish() : status;
      }));
  ASSERT_TRUE(status.ok()) << status.message();
  for (int64_t step = 1; step <= 20; ++step) {
    char name[32];
    snprintf(name, sizeof name, "/step-%08d", int(step));
    const LoadResult result = load(declared, random.mesh(), folder.path + name);
    EXPECT_TRUE(result.holdsWhatItSays) << result.status.message();
  }
}
