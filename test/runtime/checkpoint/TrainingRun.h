//===- TrainingRun.h - ranks with a state to save and to load -------------===//

#ifndef PCC_TEST_RUNTIME_CHECKPOINT_TRAININGRUN_H
#define PCC_TEST_RUNTIME_CHECKPOINT_TRAININGRUN_H

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/checkpoint/LoadCheckpoint.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "test/runtime/base/Folder.h"
#include "test/runtime/program/RandomLayouts.h"

#include <functional>
#include <thread>

namespace pcc::test {

/// Runs `body` on as many ranks as threads. Returns their results by rank. A
/// rank that fails ends the others.
inline std::vector<Status>
onRanks(int64_t numRanks, const std::function<Status(runtime::World &)> &body) {
  const auto worlds = runtime::createThreadWorlds(int(numRanks));
  std::vector<Status> results(worlds.size(), Status::success());
  std::vector<std::thread> threads;
  for (const auto &world : worlds)
    threads.emplace_back([&, world = world.get()] {
      world->setDeadline(20);
      results[size_t(world->rank())] = body(*world);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

/// Returns the first error.
inline Status firstOf(const std::vector<Status> &results) {
  for (const Status &status : results)
    if (status.failed())
      return status;
  return Status::success();
}

/// A tensor that a test declares, with a layout for one mesh.
struct Declared {
  std::string name;
  runtime::ElementType type;
  std::vector<int64_t> shape;
  runtime::Layout layout;
  /// Positions that hold the tensor; all if empty.
  std::vector<int64_t> positions = {};
  bool trained = true;
  bool isState = false;
  std::string stateOf = {};
  runtime::WeightOrigin origin = {};
};

/// Returns an element after `step` steps: arbitrary bits, but always the same.
inline uint64_t elementOf(const std::string &name, int64_t index,
                          int64_t step) {
  std::seed_seq seed{int64_t(std::hash<std::string>()(name) & 0xffffffff),
                     index, step};
  std::array<uint32_t, 2> words;
  seed.generate(words.begin(), words.end());
  return uint64_t(words[0]) << 32 | words[1];
}

/// The state of one rank.
class RankState {
public:
  RankState(const std::vector<Declared> &declared, const runtime::Mesh &mesh,
            int rank)
      : mesh(mesh), at(runtime::coordinatesOf(mesh, rank)) {
    for (const Declared &tensor : declared) {
      const auto &held = tensor.positions;
      if (!held.empty() &&
          std::find(held.begin(), held.end(), at[0]) == held.end())
        continue;
      const size_t bytes =
          size_t(runtime::numElements(runtime::localShape(tensor.layout))) *
          sizeOf(tensor.type);
      // Padding has arbitrary contents.
      memory.push_back(std::vector<std::byte>(bytes, std::byte(0xEE)));
      runtime::StateTensor &own = tensors.emplace_back();
      own.name = tensor.name;
      own.type = tensor.type;
      own.shape = tensor.shape;
      own.layout = tensor.layout;
      own.data = memory.back().data();
      own.trained = tensor.trained;
      own.isState = tensor.isState;
      own.stateOf = tensor.stateOf;
      own.origin = tensor.origin;
    }
  }

  void fill(int64_t step) {
    for (size_t i = 0; i < tensors.size(); ++i)
      for (const auto &[global, local] : offsets(i)) {
        const uint64_t value = elementOf(tensors[i].name, global, step);
        std::memcpy(element(i, local), &value, sizeOf(tensors[i].type));
      }
  }

  /// Returns whether every element is that of `step`, and padding is 0.
  testing::AssertionResult holds(int64_t step) const {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const size_t size = sizeOf(tensors[i].type);
      std::vector<std::byte> expected(memory[i].size());
      for (const auto &[global, local] : offsets(i)) {
        const uint64_t value = elementOf(tensors[i].name, global, step);
        std::memcpy(expected.data() + size_t(local) * size, &value, size);
      }
      if (expected != memory[i])
        return testing::AssertionFailure()
               << tensors[i].name << " is not that of step " << step;
    }
    return testing::AssertionSuccess();
  }

  Status save(const runtime::CheckpointOptions &options, runtime::World &world,
              int64_t step) {
    runtime::CheckpointWriter writer;
    if (auto status = writer.open(options, tensors, mesh, at, world);
        status.failed())
      return status;
    fill(step);
    auto status = writer.save(positionOf(step));
    // Later changes must not affect the saved state.
    fill(-1);
    return status.ok() ? writer.finish() : status;
  }

  Status load(const std::string &directory, runtime::World &world,
              runtime::LoadedCheckpoint &loaded) {
    return runtime::loadCheckpoint(directory, tensors, mesh, at, world, loaded);
  }

  static runtime::TrainingPosition positionOf(int64_t step) {
    return {step, step * 32 + 5, ~uint64_t(0) - uint64_t(step)};
  }

  const runtime::Mesh mesh;
  const runtime::Coordinates at;
  std::vector<runtime::StateTensor> tensors;

private:
  std::map<int64_t, int64_t> offsets(size_t index) const {
    return localOffsets(tensors[index].layout, mesh, at);
  }
  std::byte *element(size_t index, int64_t local) {
    return memory[index].data() + size_t(local) * sizeOf(tensors[index].type);
  }

  std::vector<std::vector<std::byte>> memory;
};

/// Saves, on all ranks, the state after `step` steps.
inline Status save(const std::vector<Declared> &declared,
                   const runtime::Mesh &mesh,
                   const runtime::CheckpointOptions &options, int64_t step) {
  return firstOf(onRanks(runtime::numRanks(mesh), [&](runtime::World &world) {
    return RankState(declared, mesh, world.rank()).save(options, world, step);
  }));
}

/// Result of a load on all ranks.
struct LoadResult {
  Status status = Status::success();
  runtime::LoadedCheckpoint loaded = {}; ///< of rank 0
  bool holdsWhatItSays = true;
};

inline LoadResult load(const std::vector<Declared> &declared,
                       const runtime::Mesh &mesh,
                       const std::string &directory) {
  LoadResult result;
  std::vector<runtime::LoadedCheckpoint> loaded(
      size_t(runtime::numRanks(mesh)));
  std::vector<char> holds(loaded.size(), 1);
  result.status =
      firstOf(onRanks(runtime::numRanks(mesh), [&](runtime::World &world) {
        const auto rank = size_t(world.rank());
        RankState state(declared, mesh, world.rank());
        auto status = state.load(directory, world, loaded[rank]);
        const auto &position = loaded[rank].position;
        holds[rank] = status.ok() && state.holds(position.step) &&
                      position == RankState::positionOf(position.step);
        return status;
      }));
  result.loaded = loaded[0];
  for (size_t rank = 0; rank < loaded.size(); ++rank)
    result.holdsWhatItSays &=
        holds[rank] && loaded[rank].position == loaded[0].position;
  return result;
}

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_CHECKPOINT_TRAININGRUN_H
