//===- OptionText.h - text form of options --------------------------------===//
//
// Plain C++ without MLIR, as passes/Compile.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONTEXT_H
#define PCC_PASSES_OPTIONS_OPTIONTEXT_H

#include "passes/options/OptionTable.h"

namespace pcc {

/// Map from option names to values as text, such as "--tp" to "2". The key of
/// --dim and --shape also has a name: --dim batch=8 gives "--dim batch" and
/// "8", and --shape ids=8x32 gives "--shape ids" and "8x32".
using OptionTexts = std::map<std::string, std::string>;

/// Adds the value of the option `row` to `texts`, if the user gives the option.
/// Adds nothing for a text option that has its default value, such as --target
/// cpu. If the option names a file, the added value is the path.
void addText(const OptionRow &row, const CompileOptions &options,
             OptionTexts &texts);

/// Returns a map from the names of options to their values as text. For
/// example, --tp 2 gives an entry with the key "--tp" and the value "2". An
/// option is in the map only if the user gives the option and the option
/// changes the result of a compilation.
OptionTexts textsOf(const CompileOptions &options);

/// Returns a map from the names of training options to their values as text.
/// For example, --lr 0.1 gives an entry with the key "--lr" and the value
/// "0.1". A training option that the user does not give is not in the map.
OptionTexts trainingTextsOf(const CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONTEXT_H
