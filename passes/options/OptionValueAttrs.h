//===- OptionValueAttrs.h - values of options as attributes ---------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H

#include "mlir/IR/Builders.h"
#include "passes/options/OptionTable.h"

namespace pcc {

/// Converts the value of an option to an attribute: UnitAttr for a flag,
/// StringAttr for a text or a file's content, i64 or f64 for a number,
/// ArrayAttr for texts. Returns null for other kinds of options, such as
/// --mesh, for an absent option, and for the default value of a text.
mlir::Attribute attributeOf(const OptionRow &row, const CompileOptions &options,
                            mlir::Builder &builder);

/// Stores `attribute`, a result of attributeOf(), in `options` as the value of
/// the option `row`. If the option is a list of texts, appends to the list.
/// Does nothing if `attribute` is null or its type does not fit the option.
/// Also does nothing for an option that is no flag, text, real number or list
/// of texts, for example an integer.
void setFromAttribute(const OptionRow &row, mlir::Attribute attribute,
                      CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
