//===- GraphOps.td - ops of the graph dialect --------------*- tablegen -*-===//
//
// Each included file holds one family of ops. Dims are numbered from the left, from 0; attributes that name a dim are never
// negative. Descriptions write the shape of a tensor as [B, H, S] and an ellipsis for any number of dims.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHOPS
#define PCC_DIALECTS_GRAPH_GRAPHOPS

include "dialects/graph/GraphDialect.td"
include "dialects/graph/GraphInterfaces.td"
include "dialects/graph/OpClasses.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Tensor : StaticShapeTensorOf<[AnyType]>;

/// Base class of all ops without side effects. Each has a kind (OpClasses.td) and a sharding rule; `traits` has the facts about
/// the op.
class Graph_Op<string mnemonic, Graph_Kind kind, list<Trait> traits = []> :
    Op<Graph_Dialect, mnemonic, !listconcat(traits, kind.traits, [Pure, kind.rule])>;

/// Traits of ops whose result types follow from operands and attributes. Unlike upstream's InferTypeOpAdaptor, the adaptor
/// also sees attributes that the parser has only put into the dictionary, and default values.
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

/// Base class of ops whose result types are inferred.
class Graph_InferOp<string mnemonic, Graph_Kind kind, list<Trait> traits = []> :
    Graph_Op<mnemonic, kind, !listconcat(traits, [Graph_InferTypes])>;

include "dialects/graph/ops/Sources.td"
include "dialects/graph/ops/ElementWise.td"
include "dialects/graph/ops/Contractions.td"
include "dialects/graph/ops/Attention.td"
include "dialects/graph/ops/Reductions.td"
include "dialects/graph/ops/Layout.td"
include "dialects/graph/ops/Indexing.td"
include "dialects/graph/ops/Experts.td"

#endif
