//===- TrainedWeightsTest.cpp - exports of checkpoints --------------------===//

#include "test/runtime/checkpoint/TrainingRun.h"

#include "runtime/checkpoint/TrainedWeights.h"

#include <nlohmann/json.hpp>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
const Mesh pair = test::makeMesh({1, 2, 1});
const SubAxis half{"tp", 1, 2};

/// A tensor of a safetensors file, read by the documentation of the format.
struct Plain {
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

std::map<std::string, Plain> readPlainly(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t length = 0;
  file.read(reinterpret_cast<char *>(&length), sizeof length);
  std::string text(length, '\0');
  file.read(text.data(), long(length));
  const std::string data{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, Plain> tensors;
  size_t covered = 0;
  const nlohmann::json header = nlohmann::json::parse(text);
  for (const auto &[name, entry] : header.items()) {
    const size_t begin = entry["data_offsets"][0],
                 end = entry["data_offsets"][1];
    tensors[name] = {entry["dtype"], entry["shape"],
                     data.substr(begin, end - begin)};
    covered += end - begin;
  }
  EXPECT_EQ(covered, data.size());
  return tensors;
}

/// Returns the elements of `name` after `step`, in the order of `indices`.
std::string bytesOf(const std::string &name, int64_t step, size_t size,
                    const std::vector<int64_t> &indices) {
  std::string bytes;
  for (int64_t index : indices) {
    const uint64_t value = elementOf(name, index, step);
    bytes.append(reinterpret_cast<const char *>(&value), size);
  }
  return bytes;
}

WeightOrigin transposed(const std::string &name) {
  program::TransposeT step;
  step.permutation = {1, 0};
  return {name, ElementType::F32, {2, 3}, {step}};
}

WeightOrigin rows(const std::string &name, int64_t start, int64_t size) {
  program::SliceT step;
  step.start = start;
  step.size = size;
  return {name, ElementType::F32, {4, 2}, {step}};
}

Layout divided(const std::vector<int64_t> &shape) {
  Layout layout = wholeLayout(shape);
  layout.dims[0].factors[0].axes = {half};
  return layout;
}

Declared weight(const std::string &name, std::vector<int64_t> shape,
                WeightOrigin origin, ElementType type = ElementType::F32) {
  const Layout layout = divided(shape);
  return {name,  type, std::move(shape), layout, {}, true,
          false, "",   std::move(origin)};
}
} // namespace

TEST(TrainedWeights, WholeInTheModelsForm) {
  const Folder folder;
  std::vector<Declared> declared = {
      weight("fc", {3, 2}, transposed("fc")),
      weight("gain", {5}, {"gain", ElementType::BF16, {5}}, ElementType::BF16),
      weight("top", {1, 2}, rows("split", 0, 1)),
      weight("rest", {3, 2}, rows("split", 1, 3))};
  declared.push_back({"fc.momentum",
                      ElementType::F32,
                      {3, 2},
                      divided({3, 2}),
                      {},
                      false,
                      true,
                      "fc"});
  declared.push_back(weight("frozen", {5}, {"frozen", ElementType::F32, {5}}));
  declared.back().trained = false;
  CheckpointOptions options;
  options.directory = folder.path + "/checkpoints";
  options.model = "/models/a.onnx";
  ASSERT_TRUE(save(declared, pair, options, 2).ok());

  TrainedWeights weights;
  Status status = TrainedWeights::open(options.directory, weights);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(weights.model(), "/models/a.onnx");
  status = weights.writeSafetensors(folder.path + "/out.safetensors");
  ASSERT_TRUE(status.ok()) << status.message();

  const auto tensors = readPlainly(folder.path + "/out.safetensors");
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors.at("fc").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensors.at("fc").bytes, bytesOf("fc", 2, 4, {0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(tensors.at("gain").dtype, "BF16");
  EXPECT_EQ(tensors.at("gain").bytes, bytesOf("gain", 2, 2, {0, 1, 2, 3, 4}));
  EXPECT_EQ(tensors.at("split").bytes,
            bytesOf("top", 2, 4, {0, 1}) +
                bytesOf("rest", 2, 4, {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(folder.files().back(), "out.safetensors");
}

TEST(TrainedWeights, PartOfAWeightNeedsTheModel) {
  const Folder folder;
  CheckpointOptions options;
  options.directory = folder.path + "/checkpoints";
  ASSERT_TRUE(
      save({weight("part", {3, 2}, rows("w", 1, 3))}, pair, options, 1).ok());
  TrainedWeights weights;
  ASSERT_TRUE(TrainedWeights::open(options.directory, weights).ok());
  const Status status = weights.writeSafetensors(folder.path + "/out");
  EXPECT_EQ(status.code(), CannotMeet);
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/out"));
  std::vector<float> stored(8, 3.0f);
  ASSERT_TRUE(
      weights
          .change(weights.list()[0], std::as_writable_bytes(std::span(stored)))
          .ok());
  EXPECT_EQ(stored[1], 3.0f);
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(&stored[2]), 24),
            bytesOf("part", 1, 4, {0, 1, 2, 3, 4, 5}));
}

/// An older checkpoint is never loaded silently, and no partial file is
/// written.
TEST(TrainedWeights, DamageIsAnError) {
  const Folder folder;
  CheckpointOptions options;
  options.directory = folder.path + "/checkpoints";
  const std::vector<Declared> declared = {weight("w", {6}, {})};
  for (int64_t step : {1, 2})
    ASSERT_TRUE(save(declared, pair, options, step).ok());
  std::fstream file(options.directory + "/step-00000002/rank-001.safetensors");
  file.seekp(-1, std::ios::end);
  file.put('\x55');
  file.close();
  TrainedWeights weights;
  ASSERT_TRUE(TrainedWeights::open(options.directory, weights).ok());
  const Status status = weights.writeSafetensors(folder.path + "/out");
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_EQ(status.notes().size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/out"));
  for (const std::string &name : folder.files())
    EXPECT_EQ(name.find(".part"), name.npos);
}

/// A checkpoint that is not complete is skipped, with a note.
TEST(TrainedWeights, IncompleteOnesArePassedOver) {
  const Folder folder;
  CheckpointOptions options;
  options.directory = folder.path + "/checkpoints";
  const std::vector<Declared> declared = {weight("w", {6}, {})};
  for (int64_t step : {1, 2})
    ASSERT_TRUE(save(declared, pair, options, step).ok());
  std::filesystem::remove(options.directory +
                          "/step-00000002/rank-001.safetensors");
  TrainedWeights weights;
  ASSERT_TRUE(TrainedWeights::open(options.directory, weights).ok());
  EXPECT_EQ(weights.folder(), options.directory + "/step-00000001");
  EXPECT_EQ(weights.notes().size(), 1u);
}
