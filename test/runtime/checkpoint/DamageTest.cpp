//===- DamageTest.cpp - checkpoints that are not as they were written -----===//

#include "test/runtime/checkpoint/TrainingRun.h"

#include "runtime/checkpoint/Manifest.h"

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
const Mesh pair = test::makeMesh({1, 2, 1}), single = test::makeMesh({1, 1});
const SubAxis half{"tp", 1, 2};

std::vector<Declared> divided() {
  return {
      {"w", ElementType::F32, {6, 4}, test::makeLayout({{{6, {half}}}, {{4}}})},
      {"m",
       ElementType::F32,
       {6},
       test::makeLayout({{{6}}}),
       {},
       false,
       true,
       "w"}};
}

std::vector<Declared> whole() {
  std::vector<Declared> declared = divided();
  declared[0].layout = wholeLayout(declared[0].shape);
  return declared;
}

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const std::string &path, const std::string &content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// Checkpoints of step 1, which stays intact, and of step 2.
class Damage : public testing::Test {
protected:
  void SetUp() override {
    CheckpointOptions options;
    options.directory = folder.path;
    for (int64_t step : {1, 2})
      ASSERT_TRUE(save(divided(), pair, options, step).ok());
  }

  /// Expects that the damage is noticed with any plan, and that the checkpoint
  /// before is loaded.
  void expectFallback(const std::string &why) {
    for (const bool isDivided : {false, true}) {
      const LoadResult result = load(isDivided ? divided() : whole(),
                                     isDivided ? pair : single, folder.path);
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      EXPECT_TRUE(result.holdsWhatItSays);
      EXPECT_EQ(result.loaded.position.step, 1);
      ASSERT_EQ(result.loaded.notes.size(), 1u);
      EXPECT_EQ(result.loaded.notes[0].find("checkpoint skipped: "), 0u);
      // With two ranks, the other one may report it.
      if (!isDivided)
        EXPECT_NE(result.loaded.notes[0].find(why), std::string::npos)
            << result.loaded.notes[0];
    }
  }

  void changeManifest(const std::function<void(Manifest &)> &change) {
    Manifest changed;
    ASSERT_TRUE(readManifest(manifest, changed).ok());
    change(changed);
    overwrite(manifest, toJson(changed));
  }

  const Folder folder;
  const std::string newest = folder.path + "/step-00000002";
  const std::string manifest = newest + "/manifest.json";
  const std::string part = newest + "/rank-001.safetensors";
};
} // namespace

TEST_F(Damage, TruncatedFile) {
  std::filesystem::resize_file(part, std::filesystem::file_size(part) - 1);
  expectFallback("bytes instead of");
}

TEST_F(Damage, FlippedBitOfATensor) {
  std::string content = contentOf(part);
  content[content.size() - 3] ^= 4;
  overwrite(part, content);
  expectFallback("tensor 'w' has another checksum");
}

TEST_F(Damage, MissingFile) {
  std::filesystem::remove(part);
  expectFallback("rank-001.safetensors' is missing");
}

TEST_F(Damage, MissingManifest) {
  std::filesystem::remove(manifest);
  expectFallback("manifest.json' is missing");
}

TEST_F(Damage, TruncatedManifest) {
  overwrite(manifest, contentOf(manifest).substr(0, 200));
  expectFallback("it is not JSON, or is truncated");
}

TEST_F(Damage, OtherVersion) {
  std::string content = contentOf(manifest);
  content.replace(content.find("\"format\": 2"), 11, "\"format\": 3");
  overwrite(manifest, content);
  expectFallback("it is of format 3, this build reads format 2");
}

TEST_F(Damage, DeeplyNestedManifest) {
  overwrite(manifest, std::string(100000, '['));
  expectFallback("it is nested too deeply");
}

TEST_F(Damage, AbsurdHeaderLengths) {
  const std::string sound = contentOf(part);
  for (const uint64_t length :
       {~uint64_t(0), uint64_t(1) << 63, uint64_t(100'000'001), uint64_t(0),
        uint64_t(sound.size()), uint64_t(3)}) {
    std::string content = sound;
    std::memcpy(content.data(), &length, sizeof length);
    overwrite(part, content);
    expectFallback("is not a valid safetensors file: its header");
  }
}

TEST_F(Damage, RunsOutsideTheShape) {
  changeManifest(
      [](Manifest &m) { m.tensors[0].pieces[1].runs[0] = {{4, 7}}; });
  expectFallback("impossible runs of dim 0 of size 6");
}

TEST_F(Damage, RunsThatDoNotAscend) {
  changeManifest(
      [](Manifest &m) { m.tensors[0].pieces[1].runs[0] = {{5, 6}, {3, 5}}; });
  expectFallback("impossible runs of dim 0");
}

TEST_F(Damage, PieceOfNothing) {
  changeManifest([](Manifest &m) {
    m.tensors[0].pieces.push_back({m.files[0].name, 0, 0, 0, {{}, {{0, 4}}}});
  });
  expectFallback("impossible runs of dim 0");
}

TEST_F(Damage, OverlappingPieces) {
  changeManifest(
      [](Manifest &m) { m.tensors[0].pieces[1].runs[0] = {{2, 5}}; });
  expectFallback("tensor 'w' do not hold each element once");
}

TEST_F(Damage, PieceThatIsListedTwice) {
  changeManifest([](Manifest &m) {
    m.tensors[0].pieces.push_back(m.tensors[0].pieces[0]);
  });
  expectFallback("tensor 'w' do not hold each element once");
}

TEST_F(Damage, PieceThatIsMissing) {
  changeManifest([](Manifest &m) { m.tensors[0].pieces.pop_back(); });
  expectFallback("tensor 'w' do not hold each element once");
}

TEST_F(Damage, PieceElsewhereInItsFile) {
  changeManifest([](Manifest &m) { m.tensors[0].pieces[1].offset -= 4; });
  expectFallback("does not have tensor 'w' as the manifest says");
}

TEST_F(Damage, PieceOutsideItsFile) {
  for (const uint64_t offset : {uint64_t(500), ~uint64_t(0)}) {
    changeManifest(
        [&](Manifest &m) { m.tensors[0].pieces[1].offset = offset; });
    expectFallback("has a piece of tensor 'w' outside of its file");
  }
}

TEST_F(Damage, PieceOfAnUnknownFile) {
  changeManifest([](Manifest &m) {
    m.tensors[0].pieces[1].file = "rank-007.safetensors";
  });
  expectFallback("has a piece of tensor 'w' outside of its file");
}

TEST_F(Damage, FileOutsideTheFolder) {
  changeManifest([](Manifest &m) { m.files[0].name = "../latest"; });
  expectFallback("names a file outside of its folder");
}

TEST_F(Damage, ImpossibleShape) {
  changeManifest(
      [](Manifest &m) { m.tensors[0].shape = {int64_t(1) << 62, 1 << 20}; });
  expectFallback("has an impossible shape");
}

/// Whichever bit of the manifest or of a file's header flips, a complete step
/// is loaded: step 2 if the flip has no effect, else step 1.
TEST_F(Damage, AnyFlippedBit) {
  for (const std::string &path : {manifest, part}) {
    const std::string sound = contentOf(path);
    for (size_t at = 0; at < std::min<size_t>(sound.size(), 1500); ++at) {
      std::string content = sound;
      content[at] ^= char(1 << at % 8);
      overwrite(path, content);
      const LoadResult result = load(whole(), single, folder.path);
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      ASSERT_TRUE(result.holdsWhatItSays) << path << " at " << at;
    }
    overwrite(path, sound);
  }
}

TEST_F(Damage, LatestThatNamesNothing) {
  for (const char *name : {"", "step-00000007\n", "../../etc\n"}) {
    overwrite(folder.path + "/latest", name);
    const LoadResult result = load(whole(), single, folder.path);
    EXPECT_EQ(result.loaded.position.step, 2);
    EXPECT_TRUE(result.holdsWhatItSays);
  }
}

TEST_F(Damage, AllAreDamaged) {
  for (const char *step : {"1", "2"})
    overwrite(folder.path + "/step-0000000" + step + "/manifest.json", "{}");
  const LoadResult result = load(divided(), pair, folder.path);
  EXPECT_EQ(result.status.code(), DamagedBundle);
  EXPECT_EQ(result.status.notes().size(), 2u);
}

TEST_F(Damage, OneThatIsAskedForHasNoFallback) {
  std::filesystem::remove(part);
  const LoadResult result = load(divided(), pair, newest);
  EXPECT_EQ(result.status.code(), DamagedBundle);
}

//===----------------------------------------------------------------------===//
// Sound, but of something else
//===----------------------------------------------------------------------===//

TEST_F(Damage, NoCheckpointAtAll) {
  EXPECT_EQ(load(whole(), single, folder.path + "/absent").status.code(),
            BadInput);
  std::filesystem::create_directory(folder.path + "/empty");
  const Status status = load(whole(), single, folder.path + "/empty").status;
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(),
            "there is no checkpoint in '" + folder.path + "/empty'");
}

TEST_F(Damage, MissingTensorIsNamed) {
  std::vector<Declared> more = whole();
  more.push_back({"new", ElementType::F32, {}, Layout{}});
  const Status status = load(more, single, folder.path).status;
  EXPECT_EQ(status.code(), CannotMeet);
  EXPECT_EQ(status.message(),
            "checkpoint '" + newest + "' has no tensor 'new'");
}

TEST_F(Damage, OtherShapeOrTypeIsNamed) {
  std::vector<Declared> other = whole();
  other[0].shape = {4, 6};
  other[0].layout = wholeLayout(other[0].shape);
  Status status = load(other, single, folder.path).status;
  EXPECT_EQ(status.code(), CannotMeet);
  EXPECT_NE(status.message().find("has tensor 'w' of shape [6, 4], this run "
                                  "needs [4, 6]"),
            std::string::npos)
      << status.message();
  other = whole();
  other[1].type = ElementType::F64;
  status = load(other, single, folder.path).status;
  EXPECT_NE(status.message().find("has tensor 'm' of type f32, this run "
                                  "needs f64"),
            std::string::npos)
      << status.message();
}

/// A missing trained weight is an error; the state of another optimizer may be
/// missing.
TEST_F(Damage, TensorsWithoutAPlace) {
  std::vector<Declared> less = {whole()[0]};
  const LoadResult stateless = load(less, single, folder.path);
  ASSERT_TRUE(stateless.status.ok()) << stateless.status.message();
  EXPECT_TRUE(stateless.holdsWhatItSays);
  ASSERT_EQ(stateless.loaded.notes.size(), 1u);
  EXPECT_EQ(stateless.loaded.notes[0],
            "this run does not use tensor 'm' of checkpoint '" + newest + "'");
  less = {whole()[1]};
  const Status status = load(less, single, folder.path).status;
  EXPECT_EQ(status.code(), CannotMeet);
  EXPECT_NE(status.message().find("has trained parameter 'w'"),
            std::string::npos);
}
