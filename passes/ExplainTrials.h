//===- ExplainTrials.h - prices of options that pcc explain names ---------===//

#ifndef PCC_PASSES_EXPLAINTRIALS_H
#define PCC_PASSES_EXPLAINTRIALS_H

#include "passes/Listener.h"
#include "passes/Options.h"
#include "passes/explain/Explanation.h"

namespace pcc {

/// Finds the price of the plan (time and memory) with each set of options that
/// `explanation` suggests. The suggestions are the other cut into pipeline
/// stages (`otherCut`) and the remedies of the lints. For each of the first
/// four, compiles the model up to 7-emit, with `options`, which are those of
/// the explained plan, and the suggested options. Stores the price in the
/// suggestion. Removes a suggestion that changes nothing, and one with which
/// the compilation fails, for example because the model is a dump of a later
/// phase. The other cut becomes the remedy of the lint about unbalanced stages.
void priceRemedies(const CompileOptions &options, const Listener &listener,
                   explain::Explanation &explanation);

} // namespace pcc

#endif // PCC_PASSES_EXPLAINTRIALS_H
