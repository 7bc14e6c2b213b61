//===- Indexing.td - reads and writes at computed places -----*- tablegen -*-===//

def Graph_GatherOp : Graph_InferOp<"gather", [Graph_Differentiable]> {
  let summary = "slices of `data` along `dim`, picked by indices";
  let description = [{
    result = data.shape[:dim] + indices.shape + data.shape[dim+1:]. Indices in [-n, n); others end a run with an error.
    [example: test/dialects/graph/indexing.mlir @gather]
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$data `,` $indices `along` $dim attr-dict `:` type($data) `,` type($indices)";
  let hasVerifier = 1;
}

def Graph_GatherElementsOp : Graph_InferOp<"gather_elements", [Graph_Differentiable]> {
  let summary = "`result[i…] = data[i…]` with dim `dim` replaced by `indices[i…]`";
  let description = [{[example: test/dialects/graph/indexing.mlir @gather_elements]}];
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$data `,` $indices `along` $dim attr-dict `:` type($data) `,` type($indices)";
  let hasVerifier = 1;
}

def Graph_GatherNdOp : Graph_InferOp<"gather_nd", [Graph_Differentiable]> {
  let summary = "slices of `data` at index tuples, the last dim of `indices`, after `batch_dims` shared dims";
  let description = [{[example: test/dialects/graph/indexing.mlir @gather_nd]}];
  let arguments = (ins Graph_Tensor:$data, Graph_Tensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` type($data) `,` type($indices)";
  let hasVerifier = 1;
}

def Graph_ScatterKind : I32EnumAttr<"ScatterKind", "what happens to the element that is written", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]> {
  let cppNamespace = "::pcc::graph";
}

def Graph_ScatterElementsOp : Graph_InferOp<"scatter_elements", [Graph_Differentiable]> {
  let summary = "`data` with elements replaced or combined: the inverse of gather_elements";
  let description = [{[example: test/dialects/graph/indexing.mlir @scatter_elements]}];
  let arguments = (ins Graph_ScatterKind:$kind, Graph_Tensor:$data, Graph_Tensor:$indices, Graph_Tensor:$updates, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $data `,` $indices `,` $updates `along` $dim attr-dict `:` type($data) `,` type($indices) `,` type($updates)";
  let hasVerifier = 1;
}

def Graph_ScatterNdOp : Graph_InferOp<"scatter_nd", [Graph_Differentiable]> {
  let summary = "`data` with slices at index tuples replaced or combined: the inverse of gather_nd";
  let description = [{[example: test/dialects/graph/indexing.mlir @scatter_nd]}];
  let arguments = (ins Graph_ScatterKind:$kind, Graph_Tensor:$data, Graph_Tensor:$indices, Graph_Tensor:$updates);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $data `,` $indices `,` $updates attr-dict `:` type($data) `,` type($indices) `,` type($updates)";
  let hasVerifier = 1;
}

def Graph_OneHotOp : Graph_Op<"one_hot", [Graph_Differentiable]> {
  let summary = "`on` where the position along the new dim equals the index, `off` elsewhere";
  let description = [{
    The result has a new dim `dim` of the depth; indices count from the end when negative, and an index outside gives
    `off` everywhere. `on` and `off` are scalars. [example: test/dialects/graph/indexing.mlir @one_hot]
  }];
  let arguments = (ins Graph_Tensor:$indices, Graph_Tensor:$on, Graph_Tensor:$off, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$indices `,` $on `,` $off `along` $dim attr-dict `:` type($indices) `,` type($on) `,` type($off) `to` type($result)";
  let hasVerifier = 1;
}
