//===- OptionValueAttrs.h - values of options as attributes ---------------===//

#ifndef PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
#define PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H

#include "mlir/IR/Builders.h"
#include "passes/options/OptionTable.h"

namespace pcc {

/// Returns the value of an option as an attribute: a UnitAttr for a flag, a
/// StringAttr, IntegerAttr (i64), FloatAttr (f64) or ArrayAttr of strings, and
/// for a file its text. Returns null if the value is the default or of another
/// type.
mlir::Attribute attributeOf(const OptionRow &row, const CompileOptions &options,
                            mlir::Builder &builder);

/// Sets an option of training to the value of an attribute that attributeOf()
/// has returned. Does nothing if `attribute` is null or of another kind.
void setFromAttribute(const OptionRow &row, mlir::Attribute attribute,
                      CompileOptions &options);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONVALUEATTRS_H
