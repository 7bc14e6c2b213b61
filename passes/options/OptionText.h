//===- OptionText.h - text form of options --------------------------------===//
//
// Plain C++ without MLIR, as passes/Compile.h.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONTEXT_H
#define PCC_PASSES_OPTIONS_OPTIONTEXT_H

#include "passes/options/OptionTable.h"

namespace pcc {

/// Map from the names of options to their values as text. The key of --dim and
/// --shape also contains the name of the dim or input. Examples:
///
///     --train             "--train"       "true"
///     --tp 2              "--tp"          "2"
///     --dim batch=8       "--dim batch"   "8"
///     --shape ids=8x32    "--shape ids"   "8x32x"
///     --mesh a=2,b=4      "--mesh"        "a=2,b=4,"
///     --cpu a,b           "--cpu"         "a b"
///     --betas 0.9,0.999   "--betas"       "0.9,0.999"
using OptionTexts = std::map<std::string, std::string>;

/// Adds the value of one option to the map `texts`. `row` declares the option,
/// and `options` contains the value of the option. For example, --tp 2 adds an
/// entry with the key "--tp" and the value "2". If the option names a file, the
/// value is the path of the file.
///
/// Adds nothing if the user does not give the option. The value of an option
/// may be a text, such as "cpu" for --target cpu. If this text is the default
/// value of the option, the function adds nothing, even if the user gives the
/// option.
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
