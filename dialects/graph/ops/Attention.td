//===- Attention.td - attention and its gradients ------------*- tablegen -*-===//

class Graph_AttentionBase<string mnemonic, list<Trait> traits = []> : Graph_InferOp<mnemonic, !listconcat(traits, [
    Graph_AttentionInterface, DeclareOpInterfaceMethods<Graph_CostInterface, ["getFlops"]>])> {
  let hasVerifier = 1;
}

def Graph_AttentionOp : Graph_AttentionBase<"attention", [Graph_Differentiable]> {
  let summary = "softmax(scale · query keyᵀ + mask) · value";
  let description = [{
    query [B, H, S, D], key [B, K, T, D], value [B, K, T, E] → [B, H, S, E]; K divides H and query head h uses key head
    h / (H / K). `mask` broadcasts to [B, H, S, T]: booleans keep where true, floats are added. `causal`: query s sees
    keys t ≤ s + T − S… with T = S, t ≤ s. A row without any visible key gives zeros. `softcap` c > 0 replaces scores x
    by c·tanh(x/c) before the mask. Born in `1-import` or recognised in `2-prepare`.
    [example: test/dialects/graph/attention.mlir @attention]
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Optional<Graph_Tensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^ `:` type($mask) `,`)? attr-dict `:` type($query) `,` type($key) `,` type($value)
  }];
}

def Graph_AttentionQueryGradientOp : Graph_AttentionBase<"attention_query_gradient"> {
  let summary = "what the gradient of an attention's result makes of its queries";
  let description = [{
    With weights P, the softmax of the masked scores of `graph.attention`, and `gradient` dy of its result:
    dP = dy valueᵀ, and `result` is scale · (P (dP − mean)) key, where `mean` is Σ P dP over a row; a cap's slope is a
    factor of P. `top` is a row's largest score and `share` one over the sum of its exp(score − top), 0 where no key is
    seen: P = exp(scores − top) · share. These are [B, H, S] of at least 32 bits, and all of a row that
    `graph.attention_key_gradient` has to know. (The logarithm of the sum would say it in one number, but rows of P would
    not come as close to a sum of 1.) Born in `2-prepare` where the target has a kernel for it. [example: test/dialects/graph/attention.mlir @gradients]
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Graph_Tensor:$gradient,
                       Optional<Graph_Tensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Graph_Tensor:$result, Graph_Tensor:$top, Graph_Tensor:$share, Graph_Tensor:$mean);
  let assemblyFormat = [{
    $query `,` $key `,` $value `of` $gradient (`mask` $mask^ `:` type($mask) `,`)? attr-dict `:` type($query) `,` type($key) `,`
    type($value) `,` type($gradient)
  }];
}

def Graph_AttentionKeyGradientOp : Graph_AttentionBase<"attention_key_gradient"> {
  let summary = "what the gradient of an attention's result makes of its keys and values";
  let description = [{
    `value_gradient` is Pᵀ dy and `key_gradient` scale · (P (dP − mean))ᵀ query, both summed over the query heads of a key
    head, with the P and dP that `graph.attention_query_gradient` tells of.
    [example: test/dialects/graph/attention.mlir @gradients]
  }];
  let arguments = (ins Graph_Tensor:$query, Graph_Tensor:$key, Graph_Tensor:$value, Graph_Tensor:$gradient,
                       Graph_Tensor:$top, Graph_Tensor:$share, Graph_Tensor:$mean, Optional<Graph_Tensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal, DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Graph_Tensor:$key_gradient, Graph_Tensor:$value_gradient);
  let assemblyFormat = [{
    $query `,` $key `,` $value `of` $gradient `with` $top `,` $share `,` $mean (`mask` $mask^ `:` type($mask) `,`)? attr-dict `:`
    type($query) `,` type($key) `,` type($value) `,` type($gradient) `,` type($top) `,` type($share) `,` type($mean)
  }];
}
