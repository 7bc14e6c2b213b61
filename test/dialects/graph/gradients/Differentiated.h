//===- Differentiated.h - functions as text and their gradients -----------===//

#ifndef PCC_TEST_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATED_H
#define PCC_TEST_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATED_H

#include "mlir/IR/MLIRContext.h"
#include <string>
#include <vector>

namespace pcc::graph {

/// A function whose last op's first result is differentiated with respect to
/// all arguments that hold floats. Those are given different numbers between
/// `low` and `high`.
struct GradientCase {
  std::string name;
  std::string arguments; ///< "%x: tensor<2x3xf64>"
  std::string body;      ///< ops
  double low = -1.5, high = 1.5;
  /// Whether gradients that can be ops of their own are.
  bool staysWhole = false;
};

/// The name stands for the case in the names of tests.
inline std::ostream &operator<<(std::ostream &stream, const GradientCase &c) {
  return stream << c.name;
}

/// A context that knows the graph dialect and functions.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Compares the gradients of a randomly weighted sum of the result with central
/// differences, in float64: "" if they agree, else what differs.
std::string compareWithDifferences(const GradientCase &c);

/// The gradients of the sum of the result, at the given arguments ("1 2 3" for
/// each, in order), printed as "1 0 1"; "none" where nothing flows. Gives
/// "error: …" where the function has no gradient.
std::string gradientsAt(const GradientCase &c,
                        const std::vector<std::vector<double>> &arguments);

/// The ops that are built for the gradients with respect to the arguments whose
/// numbers are given: "graph.mul graph.reduce".
std::string opsBuilt(const GradientCase &c, std::vector<unsigned> wanted);

/// For each of these, the op whose gradient it is part of.
std::string opsMirrored(const GradientCase &c, std::vector<unsigned> wanted);

/// The names of the ops in the body.
std::vector<std::string> opsOf(const GradientCase &c);

} // namespace pcc::graph

#endif // PCC_TEST_DIALECTS_GRAPH_GRADIENTS_DIFFERENTIATED_H
