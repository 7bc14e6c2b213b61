//===- ExplainTrials.h - prices of options that pcc explain names ---------===//

#ifndef PCC_PASSES_EXPLAINTRIALS_H
#define PCC_PASSES_EXPLAINTRIALS_H

#include "passes/Listener.h"
#include "passes/Options.h"
#include "passes/explain/Explanation.h"

namespace pcc {

/// Finds the price of the plan (time and memory) for suggestions of
/// `explanation`. A suggestion is a set of options: the other cut into pipeline
/// stages (`otherCut`), the remedies of the lints, and another place for each
/// cut. The function compiles the model up to 7-emit with `options`, the
/// options of the explained plan, and the suggested options, and stores the
/// price in the suggestion. It tries at most four of the other cut and the
/// remedies, and places for the four dearest cuts.
///
/// A remedy is removed if the price of the plan does not change, or if the
/// compilation fails, for example because the model is a dump of a later phase.
/// A cut then gets a text in its place (`otherReason`). `otherCut` becomes the
/// one with the shortest step of all cuts that were tried, and is the remedy of
/// the lint about unbalanced stages.
void priceRemedies(const CompileOptions &options, const Listener &listener,
                   explain::Explanation &explanation);

} // namespace pcc

#endif // PCC_PASSES_EXPLAINTRIALS_H
