//===- PccDiscardableAttrs.td - attributes of dialect pcc ----*- tablegen -*-===//

#ifndef PCC_DIALECTS_PCC_PCCDISCARDABLEATTRS
#define PCC_DIALECTS_PCC_PCCDISCARDABLEATTRS

include "dialects/attributes/DiscardableAttrs.td"

def Pcc_Phase : DiscardableAttr<"pcc.phase", NumberKind, [OnModule], "1-import", "7-emit",
  "Number of the last phase that the module has passed.">;
def Pcc_Options : DiscardableAttr<"pcc.options", StringsByNameKind, [OnModule], "1-import", "7-emit",
  "Value of each option that was given, by the option's name. A resumed compilation must repeat them or leave them out.">;
def Pcc_WeightFiles : DiscardableAttr<"pcc.weight_files", StringsByNameKind, [OnModule], "1-import", "7-emit",
  "Size and hash of each weight file, by the file's name. A dump may refer to files that have them wherever they are.">;
def Pcc_Settled : DiscardableAttr<"pcc.settled", StringsByNameKind, [OnModule], "1-import", "7-emit",
  "Hash of each option that only earlier phases read, by its attribute's name. A dump in which such an option was changed is "
  "refused, since the change would have no effect.">;

#endif
