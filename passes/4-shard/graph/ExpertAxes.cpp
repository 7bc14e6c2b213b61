//===- ExpertAxes.cpp - sub-axes of dp and cp that divide experts ---------===//

#include "passes/4-shard/graph/ExpertAxes.h"

#include <numeric>

using namespace pcc;

dist::SubAxes pcc::shard::expertAxes(const dist::Mesh &mesh, int64_t numParts) {
  dist::SubAxes axes;
  for (const char *name : {"dp", "cp"})
    for (const dist::Axis &axis : mesh.axes)
      if (int64_t own = std::gcd(numParts, axis.size);
          axis.name == name && own > 1) {
        axes.push_back({axis.name, axis.size / own, own});
        numParts /= own;
      }
  return axes;
}
