//===- GraphDialect.td - the dialect of one logical model -----*- tablegen -*-===//

#ifndef PCC_DIALECTS_GRAPH_GRAPHDIALECT
#define PCC_DIALECTS_GRAPH_GRAPHDIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::pcc::graph";
  let summary = "canonical tensor ops of a model on one logical device";
  let description = [{
    About 70 ops with ONNX/NumPy semantics on builtin tensors of static shape. `1-import` creates them; they live until
    `7-emit` turns them into kernels and library calls. Between `4-shard` and `5-localize` their shapes stop being
    global and become what one rank owns; the ops stay the same. Weights are references (`#graph.weight`): no pass and no
    printer touches weight bytes.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let discardableAttrs = (ins
    "::mlir::StringAttr":$name
  );
}

class Graph_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Graph_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Graph_PermuteAttr : Graph_Attr<"Permute", "permute"> {
  let summary = "a weight's dims in another order";
  let parameters = (ins ArrayRefParameter<"int64_t">:$perm);
  let assemblyFormat = "`<` `[` $perm `]` `>`";
}

def Graph_WeightSliceAttr : Graph_Attr<"WeightSlice", "slice"> {
  let summary = "every `step`-th of `size` indices of one dim of a weight, from `start`";
  let parameters = (ins "int64_t":$dim, "int64_t":$start, "int64_t":$size, "int64_t":$step);
  let assemblyFormat = "`<` $dim `,` $start `,` $size `,` $step `>`";
}

def Graph_ReinterpretAttr : Graph_Attr<"Reinterpret", "reshape"> {
  let summary = "a weight's elements in row-major order under another shape";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` `[` $shape `]` `>`";
}

def Graph_ConvertAttr : Graph_Attr<"Convert", "cast"> {
  let summary = "a weight's elements in another type";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Graph_WeightAttr : Graph_Attr<"Weight", "weight"> {
  let summary = "where a weight's bytes lie, and a lazy chain of transforms";
  let description = [{
    `file` is relative to the root that the module records (the model's directory); the empty one stands for elements that
    are made from `--random-weights`, since the model's own are absent. `stored` is the tensor in the file;
    `transforms` are applied in order: `#graph.permute`, `#graph.slice`, `#graph.reshape`, `#graph.cast`. The bytes are
    read by the run time only.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$file, "int64_t":$offset, "int64_t":$length, "::mlir::RankedTensorType":$stored,
    OptionalArrayRefParameter<"::mlir::Attribute">:$transforms);
  let assemblyFormat = "`<` $file `,` $offset `,` $length `,` $stored (`,` `[` $transforms^ `]`)? `>`";
  let extraClassDeclaration = [{
    /// No file has the elements.
    bool isAbsent() const { return getFile().getValue().empty(); }
    /// The type after all transforms; null if a transform does not fit.
    ::mlir::RankedTensorType getTransformedType() const;
    /// This weight with one more transform at the end.
    WeightAttr withTransform(::mlir::Attribute transform) const;
  }];
}

#endif
