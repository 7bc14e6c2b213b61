//===- ElementWise.td - ops that look at one element at a time ---*- tablegen -*-===//
//
// Operands broadcast as in NumPy: dims are matched from the right and a dim of size 1 is repeated. All of these are born
// in `1-import` and live until `7-emit` fuses them into kernels.
// [example: test/dialects/graph/element-wise.mlir]
//
//===----------------------------------------------------------------------===//

class Graph_UnaryOp<string mnemonic, string what, list<Trait> traits = [Graph_Differentiable]> :
    Graph_Op<mnemonic, !listconcat([SameOperandsAndResultType, DeclareOpInterfaceMethods<Graph_CostInterface>], traits)> {
  let summary = what;
  let description = [{Element-wise. [example: test/dialects/graph/element-wise.mlir @unary]}];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

/// Element-wise with a result of booleans.
class Graph_TestOp<string mnemonic, string what> : Graph_InferOp<mnemonic> {
  let summary = what;
  let description = [{Element-wise, gives booleans. [example: test/dialects/graph/element-wise.mlir @tests]}];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

class Graph_BinaryOp<string mnemonic, string what, list<Trait> traits = []> : Graph_InferOp<mnemonic, traits> {
  let summary = what;
  let description = [{Element-wise with broadcasting. [example: test/dialects/graph/element-wise.mlir @broadcast]}];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Graph_NegOp : Graph_UnaryOp<"neg", "-x">;
def Graph_AbsOp : Graph_UnaryOp<"abs", "|x|">;
def Graph_ExpOp : Graph_UnaryOp<"exp", "e to the x">;
def Graph_LogOp : Graph_UnaryOp<"log", "the natural logarithm">;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", "the square root">;
def Graph_ReciprocalOp : Graph_UnaryOp<"reciprocal", "1 / x">;
def Graph_TanhOp : Graph_UnaryOp<"tanh", "the hyperbolic tangent">;
def Graph_ErfOp : Graph_UnaryOp<"erf", "the error function">;
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid", "1 / (1 + exp(-x))">;
def Graph_ReluOp : Graph_UnaryOp<"relu", "max(x, 0)">;
def Graph_SoftplusOp : Graph_UnaryOp<"softplus", "log(1 + exp(x))">;
def Graph_SinOp : Graph_UnaryOp<"sin", "the sine">;
def Graph_CosOp : Graph_UnaryOp<"cos", "the cosine">;
def Graph_TanOp : Graph_UnaryOp<"tan", "the tangent">;
def Graph_AsinOp : Graph_UnaryOp<"asin", "the arc sine">;
def Graph_AcosOp : Graph_UnaryOp<"acos", "the arc cosine">;
def Graph_AtanOp : Graph_UnaryOp<"atan", "the arc tangent">;
def Graph_SinhOp : Graph_UnaryOp<"sinh", "the hyperbolic sine">;
def Graph_CoshOp : Graph_UnaryOp<"cosh", "the hyperbolic cosine">;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", "the inverse hyperbolic sine">;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", "the inverse hyperbolic cosine">;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", "the inverse hyperbolic tangent">;
def Graph_FloorOp : Graph_UnaryOp<"floor", "the largest integer not above x">;
def Graph_CeilOp : Graph_UnaryOp<"ceil", "the smallest integer not below x">;
def Graph_RoundOp : Graph_UnaryOp<"round", "the nearest integer, halves to even">;
def Graph_SignOp : Graph_UnaryOp<"sign", "-1, 0 or 1">;

def Graph_NotOp : Graph_UnaryOp<"not", "logical negation of booleans, bits of integers", []>;
def Graph_IsNanOp : Graph_TestOp<"is_nan", "whether x is not a number">;
def Graph_IsInfOp : Graph_TestOp<"is_inf", "whether x is infinite, of the asked sign"> {
  let arguments = (ins Graph_Tensor:$input, DefaultValuedAttr<BoolAttr, "true">:$negative,
                       DefaultValuedAttr<BoolAttr, "true">:$positive);
}

def Graph_AddOp : Graph_BinaryOp<"add", "lhs + rhs", [Graph_Differentiable]>;
def Graph_SubOp : Graph_BinaryOp<"sub", "lhs - rhs", [Graph_Differentiable]>;
def Graph_MulOp : Graph_BinaryOp<"mul", "lhs * rhs", [Graph_Differentiable]>;
def Graph_DivOp : Graph_BinaryOp<"div", "lhs / rhs; integers round towards zero", [Graph_Differentiable]>;
def Graph_PowOp : Graph_BinaryOp<"pow", "lhs to the rhs; the result has the type of lhs", [Graph_Differentiable]>;
def Graph_MaxOp : Graph_BinaryOp<"max", "the larger one; NaN wins", [Graph_Differentiable]>;
def Graph_MinOp : Graph_BinaryOp<"min", "the smaller one; NaN wins", [Graph_Differentiable]>;
def Graph_AndOp : Graph_BinaryOp<"and", "both">;
def Graph_OrOp : Graph_BinaryOp<"or", "at least one">;
def Graph_XorOp : Graph_BinaryOp<"xor", "exactly one">;
def Graph_BitAndOp : Graph_BinaryOp<"bit_and", "bits in both">;
def Graph_BitOrOp : Graph_BinaryOp<"bit_or", "bits in at least one">;
def Graph_BitXorOp : Graph_BinaryOp<"bit_xor", "bits in exactly one">;

def Graph_ModOp : Graph_BinaryOp<"mod", "the remainder; it has the sign of rhs, of lhs with `truncated` (C's fmod)",
                                [Graph_Differentiable]> {
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, UnitAttr:$truncated);
}

def Graph_Predicate : I32EnumAttr<"Predicate", "an order relation", [
    I32EnumAttrCase<"Equal", 0, "eq">, I32EnumAttrCase<"Less", 1, "lt">, I32EnumAttrCase<"LessOrEqual", 2, "le">,
    I32EnumAttrCase<"Greater", 3, "gt">, I32EnumAttrCase<"GreaterOrEqual", 4, "ge">]> {
  let cppNamespace = "::pcc::graph";
}

def Graph_CompareOp : Graph_InferOp<"compare"> {
  let summary = "whether lhs and rhs are in a relation; gives booleans";
  let description = [{Element-wise with broadcasting. [example: test/dialects/graph/element-wise.mlir @tests]}];
  let arguments = (ins Graph_Predicate:$predicate, Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Graph_SelectOp : Graph_InferOp<"select", [Graph_Differentiable]> {
  let summary = "`on_true` where the condition holds, else `on_false`";
  let description = [{Element-wise with broadcasting. [example: test/dialects/graph/element-wise.mlir @select]}];
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$on_true, Graph_Tensor:$on_false);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($on_true) `,` type($on_false)";
}

def Graph_CastOp : Graph_Op<"cast", [SameOperandsAndResultShape, Graph_Differentiable]> {
  let summary = "another element type; floats to integers truncate, anything to booleans tests for zero";
  let description = [{Element-wise. [example: test/dialects/graph/element-wise.mlir @cast]}];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasFolder = 1;
}

def Graph_GeluOp : Graph_UnaryOp<"gelu", "x times the normal distribution's share below x"> {
  let description = [{
    `0.5 x (1 + erf(slope x))`, or with `tanh` its approximation `0.5 x (1 + tanh(slope (x + cubic x³)))`. `slope` is 1/√2,
    √(2/π) for tanh, and `cubic` 0.044715, unless a model wrote them in its own type: then they are what it wrote, so that
    nothing changes in f64; the difference is below the rounding of narrower types. Born in `1-import` or recognised in
    `2-prepare`. [example: test/dialects/graph/element-wise.mlir @unary]
  }];
  let arguments = (ins Graph_Tensor:$input, UnitAttr:$tanh, OptionalAttr<F64Attr>:$slope, OptionalAttr<F64Attr>:$cubic);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input, "bool":$tanh), [{
    build($_builder, $_state, result, input, tanh, ::mlir::FloatAttr(), ::mlir::FloatAttr());
  }]>];
}

def Graph_RandomOp : Graph_InferOp<"random"> {
  let summary = "uniform numbers in [0, 1), f32, each from its counter";
  let description = [{
    Philox 4x32 with 10 rounds (Salmon et al. 2011): the counter is the element of `index` (i64) and `step` (an i64 that
    broadcasts), the key `key`; the number is the upper 24 bits of the first word over 2^24. So a number depends on what it
    is for alone, not on where or in which order it is made. [example: test/dialects/graph/element-wise.mlir @random]
  }];
  let arguments = (ins Graph_Tensor:$index, Graph_Tensor:$step, I64Attr:$key);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$index `,` $step `key` $key attr-dict `:` type($index) `,` type($step)";
}
