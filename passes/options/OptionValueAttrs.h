//===- OptionValueAttrs.h - values of options as attributes ---------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H

#include "mlir/IR/Builders.h"
#include "passes/options/OptionTable.h"

namespace pcc {

/// Returns the value of an option as an attribute:
///
///     flag             UnitAttr
///     text             StringAttr
///     file             StringAttr with the file's text
///     whole number     IntegerAttr (i64)
///     real number      FloatAttr (f64)
///     list of texts    ArrayAttr
///
/// Returns null if the value is the default, or if its type (such as a mesh)
/// has no attribute form.
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
