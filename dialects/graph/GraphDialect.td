//===- GraphDialect.td - graph dialect and its attributes --*- tablegen -*-===//

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
    About 85 ops with ONNX and NumPy semantics on builtin tensors of static shape. A model is a program for one logical
    device; shardings never change what it computes. The dims of a tensor are numbered from 0, outermost first.

    `1-import` creates the ops. Later phases add, replace and remove some of them. `localize-shapes` of `5-localize` replaces
    the global shapes by the local shapes of one rank; the ops stay the same. `7-emit` moves most ops into kernels and library
    calls of the `rank` dialect. Weights are references (`#graph.weight`): no pass and no printer touches the bytes of a
    weight.

    Discardable attributes of values, on arguments, results or ops:

    - `graph.name` (string): the name of the value in the model, by which seeds refer to it.
    - `graph.dims` (list of strings): the symbol of each dim of an input; an empty string for a dim without a symbol.
    - `graph.batch_dim`, `graph.sequence_dim` (i64): the dim of an input that is the batch, or the sequence.
    - `graph.labels` (unit): marks an input that the loss compares an output with.

    Discardable attributes of ops:

    - `graph.chosen` (i64): on an einsum over experts, the most experts that one token has chosen.
    - `graph.number`, `graph.mirrors` (i64): relate backward ops to their forward op, between `2-prepare` and `3-place`.
    - `graph.updates` (symbol): the weight that an op of the update belongs to, between `2-prepare` and `3-place`.
    - `graph.gradient_of` (symbol): the weight whose gradient a result of `@main` is, or a placeholder stands for; within
      `1-import` and `2-prepare`.

    Discardable attributes of the module:

    - `graph.model` (string), `graph.root` (string): the file of the model, and the directory that weight files are relative
      to.
    - `graph.bound_dims` (dictionary): the size that each dynamic dim is bound to.
    - `graph.batch_dims` (list of strings `NAME=K`): batch dims that the user names.
    - `graph.precision` (type): the float type of contractions.
    - `graph.training` (dictionary): the training options; absent for inference.
    - `graph.reproducible` (unit): sums over the batch must not depend on how the batch is divided.
    - `graph.inputs`, `graph.outputs` (lists of dictionaries): attributes of the inputs and outputs in the order of the model,
      after `outline-stages`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The attributes that GraphDiscardableAttrs.td declares.
    ::pcc::AttributeTable attributes;
  }];
}

/// Base class of the attributes of the dialect, all of which describe weights.
class Graph_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Graph_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Graph_PermuteAttr : Graph_Attr<"Permute", "permute"> {
  let summary = "permutation of the dims of a weight";
  let description = [{
    Transform of a `#graph.weight`. Dim i of the result is dim `perm[i]` of the tensor before it: `#graph.permute<[1, 0]>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$perm);
  let assemblyFormat = "`<` `[` $perm `]` `>`";
}

def Graph_WeightSliceAttr : Graph_Attr<"WeightSlice", "slice"> {
  let summary = "slice of one dim of a weight";
  let description = [{
    Transform of a `#graph.weight`: `#graph.slice<dim, start, size, step>` takes `size` indices of dim `dim`, from `start` on,
    `step` apart.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$start, "int64_t":$size, "int64_t":$step);
  let assemblyFormat = "`<` $dim `,` $start `,` $size `,` $step `>`";
}

def Graph_ReinterpretAttr : Graph_Attr<"Reinterpret", "reshape"> {
  let summary = "change of the shape of a weight";
  let description = [{
    Transform of a `#graph.weight`: `#graph.reshape<[6]>` keeps the elements in row-major order and changes their shape.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` `[` $shape `]` `>`";
}

def Graph_ConvertAttr : Graph_Attr<"Convert", "cast"> {
  let summary = "conversion of a weight to another element type";
  let description = [{
    Transform of a `#graph.weight`: `#graph.cast<f16>` converts every element.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Graph_WeightAttr : Graph_Attr<"Weight", "weight"> {
  let summary = "reference to the stored elements of a weight, with a lazy chain of transforms";
  let description = [{
    The bytes of a weight are read at run time and by `pcc verify`. Passes see this reference only.

    - `file`: path relative to the directory `graph.root` of the module. The path is empty if no file has the elements; they
      are then random (`--random-weights`).
    - `offset`, `length`: the range of the elements in the file, in bytes.
    - `stored`: type of the stored tensor.
    - `transforms`: transforms of the stored tensor, applied in order: `#graph.permute`, `#graph.slice`, `#graph.reshape` and
      `#graph.cast`.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$file, "int64_t":$offset, "int64_t":$length, "::mlir::RankedTensorType":$stored,
    OptionalArrayRefParameter<"::mlir::Attribute">:$transforms);
  let assemblyFormat = "`<` $file `,` $offset `,` $length `,` $stored (`,` `[` $transforms^ `]`)? `>`";
  let extraClassDeclaration = [{
    /// Returns whether no file has the elements.
    bool isAbsent() const { return getFile().getValue().empty(); }
    /// Returns the type after all transforms; null if a transform does not fit.
    ::mlir::RankedTensorType getTransformedType() const;
    /// Returns this weight with one more transform at the end.
    WeightAttr withTransform(::mlir::Attribute transform) const;
  }];
}

#endif
