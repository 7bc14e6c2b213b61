//===- ExplainTrials.h - prices of options that pcc explain names ---------===//

#ifndef PCC_PASSES_EXPLAINTRIALS_H
#define PCC_PASSES_EXPLAINTRIALS_H

#include "passes/Listener.h"
#include "passes/Options.h"
#include "passes/explain/Explanation.h"

namespace pcc {

/// Finds the price of the plan (time and memory) for each of the first four
/// suggestions of `explanation`. A suggestion is a set of options: first the
/// other cut into pipeline stages (`otherCut`), then the remedies of the lints.
/// The function compiles the model up to 7-emit with `options`, the options of
/// the explained plan, and the suggested options, and stores the price in the
/// suggestion. It removes a suggestion if the price of the plan does not
/// change, or if the compilation fails, for example because the model is a dump
/// of a later phase. The other cut becomes the remedy of the lint about
/// unbalanced stages.
void priceRemedies(const CompileOptions &options, const Listener &listener,
                   explain::Explanation &explanation);

} // namespace pcc

#endif // PCC_PASSES_EXPLAINTRIALS_H
