//===- OpClasses.td - kinds of the graph ops and facts about them *- tablegen -*-===//
//
// Passes ask for the classes of an op instead of listing ops. Each op names exactly one kind, which says from which elements of
// its operands an element of a result is computed, and all facts that hold for it. dialects/graph/OpClasses.h states the
// contract of each class; test/dialects/graph/op-classes.txt has all ops with their classes.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPCLASSES
#define PCC_DIALECTS_GRAPH_OPCLASSES

include "dialects/graph/GraphInterfaces.td"

/// A class of ops: a trait that OpClasses.h defines.
class Graph_Class<string name> : NativeOpTrait<name> {
  let cppNamespace = "::pcc::graph";
}

/// Trait of ops that implement their sharding rule.
def Graph_OwnShardingRule : DeclareOpInterfaceMethods<Graph_ShardingRuleInterface>;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

def Graph_MovesElements : Graph_Class<"MovesElements">;
def Graph_IsView : Graph_Class<"IsView">;
def Graph_KeepsElements : Graph_Class<"KeepsElements">;
def Graph_IsStored : Graph_Class<"IsStored">;
def Graph_SumsProducts : Graph_Class<"SumsProducts">;
def Graph_IsExpensive : Graph_Class<"IsExpensive">;
def Graph_LosesDigits : Graph_Class<"LosesDigits">;
def Graph_GivesFinite : Graph_Class<"GivesFinite">;
def Graph_KeepsFinite : Graph_Class<"KeepsFinite">;
def Graph_IsComposite : Graph_Class<"IsComposite">;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// The kind of an op, of which every op has exactly one. `traits` are the classes that the kind consists of, and `rule` is the
/// interface of the sharding rule.
class Graph_Kind<list<Trait> kindTraits, Trait kindRule = Graph_OwnShardingRule> {
  list<Trait> traits = kindTraits;
  Trait rule = kindRule;
}

def Graph_Declaration : Graph_Kind<[Graph_Class<"IsDeclaration">]>;
def Graph_Source : Graph_Kind<[Graph_Class<"IsSource">]>;
/// Kind of element-wise ops, whose default sharding rule is that of NumPy's broadcasting. An op with another rule has the trait
/// Graph_OwnShardingRule.
def Graph_ElementWise : Graph_Kind<[Graph_Class<"IsElementWise">], Graph_ShardingRuleInterface>;
def Graph_Layout : Graph_Kind<[Graph_Class<"IsLayout">]>;
def Graph_Indexing : Graph_Kind<[Graph_Class<"IsIndexing">]>;
def Graph_Window : Graph_Kind<[Graph_Class<"IsWindow">]>;
def Graph_RowWise : Graph_Kind<[Graph_Class<"IsRowWise">]>;
def Graph_Contraction : Graph_Kind<[Graph_Class<"IsContraction">, Graph_SumsProducts, Graph_GivesFinite]>;
def Graph_Attention : Graph_Kind<[Graph_AttentionInterface, Graph_SumsProducts]>;
def Graph_Update : Graph_Kind<[Graph_Class<"IsUpdate">]>;

#endif
