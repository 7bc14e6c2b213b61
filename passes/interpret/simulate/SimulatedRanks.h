//===- SimulatedRanks.h - simulated ranks of one stage --------------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SIMULATEDRANKS_H
#define PCC_PASSES_INTERPRET_SIMULATE_SIMULATEDRANKS_H

#include "sharding/Mesh.h"

namespace pcc::interpret {

/// The ranks of one stage during the execution of one microbatch. Ranks are
/// numbered from 0, row-major over the mesh without the time axis (the mesh
/// axis that counts microbatches). An object made by the default constructor
/// has one rank.
struct SimulatedRanks {
  /// Mesh of the module. If there are several microbatches, the mesh has a time
  /// axis, whose coordinate is the number of the microbatch.
  dist::Mesh mesh;
  /// Number of the microbatch that the ranks execute. It is the coordinate of
  /// all ranks along the time axis, which counts microbatches.
  int64_t microbatch = 0;

  /// Returns the number of ranks.
  int64_t size() const { return mesh.spatial().size(); }

  /// Returns the coordinates of the rank `rank` along all mesh axes. The
  /// coordinate along the time axis, which counts microbatches, is
  /// `microbatch`.
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
