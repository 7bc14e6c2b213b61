//===- GraphOps.td - the ops of the graph dialect ------------*- tablegen -*-===//
//
// One family per included file. A tensor's dims are counted from the left, 0 first; `dim` attributes are never negative.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHOPS
#define PCC_DIALECTS_GRAPH_GRAPHOPS

include "dialects/graph/GraphDialect.td"
include "dialects/graph/GraphInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Tensor : StaticShapeTensorOf<[AnyType]>;

class Graph_Op<string mnemonic, list<Trait> traits = []> :
    Op<Graph_Dialect, mnemonic, !listconcat(traits, [
      Pure, DeclareOpInterfaceMethods<Graph_ShardingRuleInterface>])>;

/// Ops whose result types follow from operands and attributes. Unlike upstream's InferTypeOpAdaptor it sees attributes that
/// the parser has read into the dictionary only, and defaults.
def Graph_InferTypes : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface>,
  NativeOpTrait<"InferTypeOpAdaptor", [], /*extraOpDeclaration=*/[{
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &results);
  }], /*extraOpDefinition=*/[{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      auto complete = ::pcc::graph::completeProperties<$cppClass>(context, attributes, properties);
      Adaptor adaptor(operands, attributes, complete, regions);
      if (location && failed(adaptor.verify(*location)))
        return ::mlir::failure();
      return inferReturnTypes(context, location, adaptor, results);
    }
  }]>
]>;

class Graph_InferOp<string mnemonic, list<Trait> traits = []> :
    Graph_Op<mnemonic, !listconcat(traits, [Graph_InferTypes])>;

include "dialects/graph/ops/Sources.td"
include "dialects/graph/ops/ElementWise.td"
include "dialects/graph/ops/Contractions.td"
include "dialects/graph/ops/Attention.td"
include "dialects/graph/ops/Reductions.td"
include "dialects/graph/ops/Layout.td"
include "dialects/graph/ops/Indexing.td"
include "dialects/graph/ops/Experts.td"

#endif
