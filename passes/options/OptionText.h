//===- OptionText.h - text form of options --------------------------------===//
//
// Plain C++ without MLIR, as passes/Compile.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONTEXT_H
#define PCC_PASSES_OPTIONS_OPTIONTEXT_H

#include "passes/options/OptionTable.h"

namespace pcc {

/// Values of options as text, by the options' names on the command line.
/// Examples (option, name, text):
///
///     --train             "--train"       "true"
///     --tp 2              "--tp"          "2"
///     --dim batch=8       "--dim batch"   "8"
///     --shape ids=8x32    "--shape ids"   "8x32x"
///     --mesh a=2,b=4      "--mesh"        "a=2,b=4,"
///     --cpu a,b           "--cpu"         "a b"
///     --betas 0.9,0.999   "--betas"       "0.9,0.999"
using OptionTexts = std::map<std::string, std::string>;

/// Adds the option of `row` to `texts` if its value differs from the default.
/// For an option whose value is a file, the text is the file's path.
void addText(const OptionRow &row, const CompileOptions &options,
             OptionTexts &texts);

/// Returns the texts of all options that change the result of a compilation and
/// differ from their defaults.
OptionTexts textsOf(const CompileOptions &options);

/// Returns the texts of all training options that differ from their defaults.
OptionTexts trainingTextsOf(const CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONTEXT_H
