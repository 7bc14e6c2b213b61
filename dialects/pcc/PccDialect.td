//===- PccDialect.td - the dialect of compilations -----------*- tablegen -*-===//

#ifndef PCC_DIALECTS_PCC_PCCDIALECT
#define PCC_DIALECTS_PCC_PCCDIALECT

include "mlir/IR/DialectBase.td"

def Pcc_Dialect : Dialect {
  let name = "pcc";
  let cppNamespace = "::pcc";
  let summary = "what a module records about its compilation";
  let description = [{
    Has no ops: `pcc.phase`, `pcc.options`, `pcc.settled` and `pcc.weight_files` of the module, by which a dump of any phase can
    be taken up again.
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The attributes that PccDiscardableAttrs.td declares.
    ::pcc::AttributeTable attributes;
  }];
}

#endif
