//===- Layouts.h - layouts and meshes as tests write them -----------------===//

#ifndef PCC_TEST_RUNTIME_PROGRAM_LAYOUTS_H
#define PCC_TEST_RUNTIME_PROGRAM_LAYOUTS_H

#include "runtime/program/Layout.h"

namespace pcc::test {

/// A factor, and the sub-axes that divide it.
struct DividedFactor {
  int64_t size;
  dist::SubAxes axes = {};
};
using DimFactors = std::vector<DividedFactor>;

/// Returns the layout with these factors of each dim.
inline runtime::Layout makeLayout(const std::vector<DimFactors> &dims) {
  runtime::Layout layout;
  for (const DimFactors &factors : dims) {
    dist::DimSharding &dim = layout.dims.emplace_back();
    for (const DividedFactor &factor : factors)
      dim.factors.push_back({factor.size, factor.axes});
  }
  return layout;
}

/// Returns the mesh of a program with axes of these sizes, microbatches last.
/// The others are called pp, dp and tp; a mesh of three axes has no dp.
inline dist::Mesh makeMesh(const std::vector<int64_t> &sizes) {
  std::vector<const char *> names = {"pp", "dp", "tp"};
  if (sizes.size() < 4)
    names = {"pp", "tp"};
  dist::Mesh mesh;
  for (size_t i = 0; i + 1 < sizes.size(); ++i)
    mesh.axes.push_back({names[i], sizes[i]});
  mesh.axes.push_back({std::string(dist::timeAxis), sizes.back()});
  return mesh;
}

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_PROGRAM_LAYOUTS_H
