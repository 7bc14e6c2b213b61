//===- ExplainTrials.h - prices of options that pcc explain names ---------===//

#ifndef PCC_PASSES_EXPLAINTRIALS_H
#define PCC_PASSES_EXPLAINTRIALS_H

#include "passes/Listener.h"
#include "passes/Options.h"
#include "passes/explain/Explanation.h"

namespace pcc {

/// Stores the prices of the other cut and of the remedies of `explanation`. For
/// each of the first four, compiles the model with these options up to 7-emit.
/// `options` are those of the plan. Removes a remedy that changes nothing, and
/// one with which the compilation fails, for example because the model is a
/// dump of a later phase. The other cut becomes the remedy of unbalanced
/// stages.
void priceRemedies(const CompileOptions &options, const Listener &listener,
                   explain::Explanation &explanation);

} // namespace pcc

#endif // PCC_PASSES_EXPLAINTRIALS_H
