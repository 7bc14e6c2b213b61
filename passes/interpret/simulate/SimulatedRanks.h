//===- SimulatedRanks.h - the simulated ranks of a mesh -------------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SIMULATEDRANKS_H
#define PCC_PASSES_INTERPRET_SIMULATE_SIMULATEDRANKS_H

#include "dialects/dist/Mesh.h"

namespace pcc::interpret {

/// The ranks that run one stage, at one microbatch. Ranks are numbered as in
/// the mesh without the time axis.
struct SimulatedRanks {
  dist::Mesh mesh;
  int64_t microbatch = 0;

  int64_t size() const { return mesh.spatial().size(); }

  /// Where a rank is, the time axis included.
  dist::Coordinates at(int64_t rank) const {
    dist::Coordinates space = mesh.spatial().coordinates(rank), all;
    size_t next = 0;
    for (const dist::Axis &axis : mesh.axes)
      all.push_back(axis.name == dist::timeAxis ? microbatch : space[next++]);
    return all;
  }
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_SIMULATEDRANKS_H
