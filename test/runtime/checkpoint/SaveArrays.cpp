//===- SaveArrays.cpp - makes a checkpoint of .npy files ------------------===//
//
//   save-arrays DIR STEP MODEL NAME=FILE.npy… [transposed NAME=FILE.npy…]
//
// Two ranks save the arrays as trained weights of MODEL, split along their
// first dim. The arrays after "transposed" are saved as transposes of the
// model's weights. Each has an optimizer state, which no export may contain.
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/tensor/Npy.h"
#include "test/runtime/program/Layouts.h"

#include <cstdio>
#include <cstring>
#include <deque>
#include <thread>

using namespace pcc;
using namespace pcc::runtime;

namespace {
const Mesh pair = pcc::test::makeMesh({1, 2, 1});

struct Array {
  std::string name;
  NpyFile file;
  bool isTransposed;
};

Layout cutAlongFirstDim(const std::vector<int64_t> &shape) {
  Layout layout = wholeLayout(shape);
  if (!shape.empty())
    layout.dims[0].factors[0].axes = {{"tp", 1, 2}};
  return layout;
}

/// The tensors of one rank, and their memory.
class Rank {
public:
  Rank(const std::vector<Array> &arrays, int rank)
      : at(coordinatesOf(pair, rank)) {
    for (const Array &array : arrays) {
      add(array);
      StateTensor state = tensors.back();
      state.name += ".state";
      state.stateOf = array.name;
      state.isState = true;
      tensors.push_back(state);
    }
  }

  const Coordinates at;
  std::vector<StateTensor> tensors;

private:
  void add(const Array &array) {
    StateTensor tensor;
    tensor.name = array.isTransposed ? array.name + "/transposed" : array.name;
    tensor.type = array.file.type();
    tensor.shape = array.file.shape();
    tensor.trained = true;
    tensor.origin = {array.name, tensor.type, tensor.shape};
    if (array.isTransposed) {
      pcc::program::TransposeT step;
      step.permutation = {1, 0};
      tensor.origin.steps.emplace_back(step);
      std::swap(tensor.shape[0], tensor.shape[1]);
    }
    tensor.layout = cutAlongFirstDim(tensor.shape);
    tensor.data = read(array, tensor);
    tensors.push_back(tensor);
  }

  /// Reads the local part of the array, or of its transpose. Returns its
  /// address.
  void *read(const Array &array, const StateTensor &tensor) {
    const std::vector<int64_t> local = localShape(tensor.layout);
    const size_t size = sizeOf(tensor.type);
    auto &bytes = memory.emplace_back(size_t(numElements(local)) * size);
    const Layout whole = wholeLayout(tensor.shape);
    std::vector<int64_t> strides;
    if (array.isTransposed)
      strides = {1, tensor.shape[0]};
    for (const StridedCopy &copy :
         intersect({&whole, &at, strides}, {&tensor.layout, &at}, pair))
      runCopy(copy, array.file.data(), bytes.data(), size);
    return bytes.data();
  }

  std::deque<std::vector<char>> memory;
};

Status saveOn(World &world, const std::vector<Array> &arrays,
              const CheckpointOptions &options, int64_t step) {
  Rank rank(arrays, world.rank());
  CheckpointWriter writer;
  Status status = writer.open(options, rank.tensors, pair, rank.at, world);
  return status.ok() ? writer.save({step, step, 0}) : status;
}

bool openArrays(char **words, std::vector<Array> &arrays) {
  bool isTransposed = false;
  for (; *words; ++words) {
    const char *equals = std::strchr(*words, '=');
    if (!equals) {
      isTransposed = true;
      continue;
    }
    Array array{std::string(static_cast<const char *>(*words), equals),
                {},
                isTransposed};
    if (NpyFile::open(equals + 1, array.file).failed())
      return false;
    arrays.push_back(std::move(array));
  }
  return true;
}
} // namespace

int main(int argc, char **argv) {
  std::vector<Array> arrays;
  if (argc < 5 || !openArrays(argv + 4, arrays))
    return 2;
  CheckpointOptions options;
  options.directory = argv[1];
  options.model = argv[3];
  const auto worlds = createThreadWorlds(2);
  std::vector<std::thread> threads;
  std::vector<int> codes(2);
  for (const auto &world : worlds)
    threads.emplace_back([&, world = world.get()] {
      const Status status =
          saveOn(*world, arrays, options, std::stoll(argv[2]));
      codes[size_t(world->rank())] = status.code();
      if (status.failed())
        std::fprintf(stderr, "%s\n", status.message().c_str());
    });
  for (std::thread &thread : threads)
    thread.join();
  return codes[0] + codes[1];
}
