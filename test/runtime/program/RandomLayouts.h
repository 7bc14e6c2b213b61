//===- RandomLayouts.h - seeded layouts and what they mean ----------------===//

#ifndef PCC_TEST_RUNTIME_PROGRAM_RANDOMLAYOUTS_H
#define PCC_TEST_RUNTIME_PROGRAM_RANDOMLAYOUTS_H

#include "test/runtime/program/Layouts.h"

#include <algorithm>
#include <map>
#include <random>

namespace pcc::test {

/// Generates small meshes, shapes and layouts with uneven sizes, nested factors
/// and sub-axes.
class RandomLayouts {
public:
  explicit RandomLayouts(uint64_t seed) : engine(seed) {
    theMesh = makeMesh({1, pick({1, 2, 3, 4}), pick({2, 4, 6}), 1});
  }

  const runtime::Mesh &mesh() const { return theMesh; }

  std::vector<int64_t> shape() {
    std::vector<int64_t> sizes;
    for (int64_t dims = pick({1, 2, 3}); dims > 0; --dims)
      sizes.push_back(pick({1, 2, 3, 5, 6, 8, 12}));
    return sizes;
  }

  runtime::Coordinates coordinates() {
    return runtime::coordinatesOf(
        theMesh, std::uniform_int_distribution<int64_t>(
                     0, runtime::numRanks(theMesh) - 1)(engine));
  }

  runtime::Layout layout(const std::vector<int64_t> &shape) {
    dist::SubAxes parts = allParts();
    runtime::Layout layout;
    for (int64_t size : shape) {
      auto &factorsOfDim = layout.dims.emplace_back().factors;
      for (int64_t factor : factors(size)) {
        factorsOfDim.push_back({factor, {}});
        while (!parts.empty() && pick({0, 1, 1}) == 0) {
          factorsOfDim.back().axes.push_back(parts.back());
          parts.pop_back();
        }
      }
    }
    return layout;
  }

private:
  int64_t pick(std::vector<int64_t> choices) {
    return choices[std::uniform_int_distribution<size_t>(0, choices.size() -
                                                                1)(engine)];
  }

  /// Returns axis dp whole, and axis tp whole or in two sub-axes.
  dist::SubAxes allParts() {
    dist::SubAxes parts = {fullAxis(theMesh, "dp")};
    const int64_t size = theMesh.sizeOf("tp");
    if (pick({0, 1}) == 0) {
      parts.push_back({"tp", 1, size});
    } else {
      parts.push_back({"tp", 1, 2});
      parts.push_back({"tp", 2, size / 2});
    }
    std::shuffle(parts.begin(), parts.end(), engine);
    return parts;
  }

  std::vector<int64_t> factors(int64_t size) {
    for (int64_t divisor : {2, 3})
      if (size % divisor == 0 && pick({0, 1}) == 0)
        return {divisor, size / divisor};
    return {size};
  }

  std::mt19937_64 engine;
  runtime::Mesh theMesh;
};

/// Returns linear global index -> linear local offset, by the definition:
/// visits all global indices of all factors and records the places of those
/// that the rank holds.
inline std::map<int64_t, int64_t> localOffsets(const runtime::Layout &layout,
                                               const runtime::Mesh &mesh,
                                               const runtime::Coordinates &at) {
  std::map<int64_t, int64_t> offsets;
  std::vector<const runtime::Factor *> factors;
  for (const dist::DimSharding &dim : layout.dims)
    for (const dist::Factor &factor : dim.factors)
      factors.push_back(&factor);
  int64_t total = 1;
  for (const auto *factor : factors)
    total *= factor->size;
  for (int64_t global = 0; global < total; ++global) {
    int64_t rest = global, local = 0, stride = 1;
    bool held = true;
    for (size_t i = factors.size(); i-- > 0;) {
      const runtime::Factor &factor = *factors[i];
      int64_t pieces = 1, piece = 0;
      for (const dist::SubAxis &axis : factor.axes) {
        pieces *= axis.size;
        piece = piece * axis.size + coordinateOf(axis, mesh, at);
      }
      const int64_t size = (factor.size + pieces - 1) / pieces;
      const int64_t index = rest % factor.size - piece * size;
      rest /= factor.size;
      held &= index >= 0 && index < size;
      local += index * stride;
      stride *= size;
    }
    if (held)
      offsets[global] = local;
  }
  return offsets;
}

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_PROGRAM_RANDOMLAYOUTS_H
