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

/// Sets the option of `row` in `options` to the value in `attribute`, which
/// attributeOf() has returned. Does nothing if `attribute` is null or of a kind
/// that the option does not have.
void setFromAttribute(const OptionRow &row, mlir::Attribute attribute,
                      CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
