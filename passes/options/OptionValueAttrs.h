//===- OptionValueAttrs.h - values of options as attributes ---------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H

#include "mlir/IR/Builders.h"
#include "passes/options/OptionTable.h"

namespace pcc {

/// Converts the value of one option to an MLIR attribute:
///
///   flag            UnitAttr       whole number     IntegerAttr (i64)
///   text            StringAttr     real number      FloatAttr (f64)
///   file's text     StringAttr     list of texts    ArrayAttr
///
/// Returns null if the user does not give the option, if a text is the default
/// value (such as --target cpu), or if the table lacks the kind of the option
/// (such as --mesh).
mlir::Attribute attributeOf(const OptionRow &row, const CompileOptions &options,
                            mlir::Builder &builder);

/// Stores the value of one option in `options`. `row` declares the option.
/// `attribute` is the value, in the form that attributeOf() returns. For
/// example, `row` declares --target, and `attribute` is the StringAttr "cuda":
/// the function sets `options.target` to "cuda". If the value is a list of
/// texts, the function appends the texts to the list in `options`.
///
/// Does nothing in three cases:
///  - `attribute` is null.
///  - The option is no flag, text, real number or list of texts.
///  - The type of `attribute` does not fit the option. For example, `attribute`
///    is a StringAttr, and the option is a real number.
void setFromAttribute(const OptionRow &row, mlir::Attribute attribute,
                      CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
