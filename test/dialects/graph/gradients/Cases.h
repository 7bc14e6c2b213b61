//===- Cases.h - functions of each op family to differentiate -------------===//

#ifndef PCC_TEST_DIALECTS_GRAPH_GRADIENTS_CASES_H
#define PCC_TEST_DIALECTS_GRAPH_GRADIENTS_CASES_H

#include "test/dialects/graph/gradients/Differentiated.h"

namespace pcc::graph {

std::vector<GradientCase> elementWiseCases();
std::vector<GradientCase> contractionCases();
std::vector<GradientCase> reductionCases();
std::vector<GradientCase> layoutCases();
std::vector<GradientCase> indexingCases();
std::vector<GradientCase> attentionCases();
std::vector<GradientCase> windowCases();
std::vector<GradientCase> blockCases();

} // namespace pcc::graph

#endif // PCC_TEST_DIALECTS_GRAPH_GRADIENTS_CASES_H
