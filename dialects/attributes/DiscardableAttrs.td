//===- DiscardableAttrs.td - declarations of attributes ------*- tablegen -*-===//
//
// MLIR's own `discardableAttrs` of a dialect know a name and a C++ type, and verify nothing. The records below also say where
// an attribute may stand, which values it takes, and when it lives. cmake/render_attributes.py renders them as C++.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_ATTRIBUTES_DISCARDABLEATTRS
#define PCC_DIALECTS_ATTRIBUTES_DISCARDABLEATTRS

// A kind of values: the name of an AttributeKind in C++. VerifyAttributes.h has the general ones, a dialect those of its own.
class AttrKind<string kindName> {
  string cpp = kindName;
}
def UnitKind : AttrKind<"unitKind">;
def StringKind : AttrKind<"stringKind">;
def StringsKind : AttrKind<"stringsKind">;
def NumberKind : AttrKind<"numberKind">;
def CountKind : AttrKind<"countKind">;
def PositiveKind : AttrKind<"positiveKind">;
def CountsKind : AttrKind<"countsKind">;
def SymbolKind : AttrKind<"symbolKind">;
def TypeKind : AttrKind<"typeKind">;
def DictionaryKind : AttrKind<"dictionaryKind">;
def DictionariesKind : AttrKind<"dictionariesKind">;
def NumbersByNameKind : AttrKind<"numbersByNameKind">;
def StringsByNameKind : AttrKind<"stringsByNameKind">;
def DimKind : AttrKind<"dimKind">;
def DimNamesKind : AttrKind<"dimNamesKind">;
def MetadataKind : AttrKind<"metadataKind">;

// A place where an attribute may stand: an enumerator of AttributePlace.
class AttrPlace<string placeName> {
  string cpp = placeName;
}
def OnModule : AttrPlace<"Module">;
def OnFunction : AttrPlace<"Function">;
def OnOp : AttrPlace<"Op">;
def OnArgument : AttrPlace<"Argument">;
def OnResult : AttrPlace<"Result">;
def InLocation : AttrPlace<"Location">;

// An attribute: its full name, its kind, its places, the first and last phase whose dumps may have it (the same phase twice if
// it lives within one), and a sentence.
class DiscardableAttr<string attrName, AttrKind attrKind, list<AttrPlace> attrPlaces, string firstPhase, string lastPhase,
                      string attrSummary> {
  string text = attrName;
  AttrKind kind = attrKind;
  list<AttrPlace> places = attrPlaces;
  // If not empty, the only ops that may have the attribute. An op that is listed here needs no OnOp.
  list<string> ops = [];
  string first = firstPhase;
  string last = lastPhase;
  string summary = attrSummary;
}

#endif
