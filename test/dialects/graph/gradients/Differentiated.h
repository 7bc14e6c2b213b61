//===- Differentiated.h - functions as text and their gradients -----------===//

#ifndef PCC_TEST_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATED_H
#define PCC_TEST_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATED_H

#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace pcc::graph {

/// A function. The first result of its last op is differentiated with respect
/// to all float arguments, which get different numbers between `low` and
/// `high`.
struct GradientCase {
  std::string name;
  std::string arguments; ///< "%x: tensor<2x3xf64>"
  std::string body;      ///< ops
  double low = -1.5, high = 1.5;
  /// Whether gradients that can be single ops stay single ops.
  bool staysWhole = false;
};

/// Prints the name of the case, which is part of the name of its test.
inline std::ostream &operator<<(std::ostream &stream, const GradientCase &c) {
  return stream << c.name;
}

/// Returns a context with the graph dialect and functions.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Compares the gradients of a randomly weighted sum of the result with central
/// differences, in float64. Returns "" if they agree, else the difference.
std::string compareWithDifferences(const GradientCase &c);

/// Returns the gradients of the sum of the result at the given arguments ("1 2
/// 3" for each, in order), printed as "1 0 1"; "none" for an argument without a
/// gradient. Returns "error: …" if the function has no gradient.
std::string gradientsAt(const GradientCase &c,
                        const std::vector<std::vector<double>> &arguments);

/// Returns the ops that are built for the gradients with respect to the
/// arguments with the given indices: "graph.mul graph.reduce".
std::string opsBuilt(const GradientCase &c,
                     const std::vector<unsigned> &wanted);

/// Returns for each of these ops the op to whose gradient it belongs.
std::string opsMirrored(const GradientCase &c,
                        const std::vector<unsigned> &wanted);

/// Returns the names of the ops in the body.
std::vector<std::string> opsOf(const GradientCase &c);

} // namespace pcc::graph

#endif // PCC_TEST_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATED_H
