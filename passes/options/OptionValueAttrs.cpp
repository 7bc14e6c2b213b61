//===- OptionValueAttrs.cpp - values of options as attributes -------------===//

#include "passes/options/OptionValueAttrs.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc;

namespace {
/// Converts the value of one option to an MLIR attribute. For example, the
/// value of a flag becomes a UnitAttr. Returns null in three cases:
///
/// - The user does not give the option.
/// - The value is a text that equals the default value, as in --target cpu.
/// - The kind of the option has no conversion, as for --mesh.
class AttributeMaker {
public:
  AttributeMaker(const CompileOptions &options, Builder &builder)
      : options(options), builder(builder) {}

  Attribute operator()(const FlagValue &flag) const {
    return flag.in(options) ? builder.getUnitAttr() : UnitAttr();
  }
  Attribute operator()(const TextValue &text) const {
    static const CompileOptions defaults;
    return text.in(options) == text.in(defaults)
               ? StringAttr()
               : builder.getStringAttr(text.in(options));
  }
  Attribute operator()(const NumberValue<int64_t> &number) const {
    return integer(number.in(options));
  }
  Attribute operator()(const NumberValue<uint64_t> &number) const {
    return integer(number.in(options));
  }
  Attribute operator()(const ByteSizeValue &bytes) const {
    return integer(options.*bytes.member);
  }
  Attribute operator()(const NumberValue<double> &number) const {
    auto value = number.in(options);
    return value ? builder.getF64FloatAttr(*value) : FloatAttr();
  }
  Attribute operator()(const TextsValue &texts) const {
    const auto &list = texts.in(options);
    return list.empty()
               ? ArrayAttr()
               : builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(list));
  }
  Attribute operator()(const FileTextValue &file) const {
    return (options.*file.path).empty()
               ? StringAttr()
               : builder.getStringAttr(options.*file.text);
  }
  template <typename Other> Attribute operator()(const Other &) const {
    return {};
  }

private:
  template <typename Number>
  Attribute integer(const std::optional<Number> &value) const {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  }

  const CompileOptions &options;
  Builder &builder;
};

/// Stores the value of an MLIR attribute in one option of `options`. For
/// example, the StringAttr "cuda" sets `options.target` to "cuda". std::visit
/// calls the operator() for the kind of the option. Flags, texts, real numbers
/// and lists of texts are stored. The operator() does nothing for other kinds,
/// and for an attribute that is null or has another type.
class AttributeReader {
public:
  AttributeReader(Attribute attribute, CompileOptions &options)
      : attribute(attribute), options(options) {}

  void operator()(const FlagValue &flag) const {
    if (isa_and_present<UnitAttr>(attribute))
      flag.in(options) = true;
  }
  void operator()(const TextValue &text) const {
    if (auto string = dyn_cast_if_present<StringAttr>(attribute))
      text.in(options) = string.str();
  }
  void operator()(const NumberValue<double> &number) const {
    if (auto value = dyn_cast_if_present<FloatAttr>(attribute))
      number.in(options) = value.getValueAsDouble();
  }
  void operator()(const TextsValue &texts) const {
    if (auto list = dyn_cast_if_present<ArrayAttr>(attribute))
      for (auto text : list.getAsRange<StringAttr>())
        texts.in(options).push_back(text.str());
  }
  template <typename Other> void operator()(const Other &) const {}

private:
  Attribute attribute;
  CompileOptions &options;
};
} // namespace

Attribute pcc::attributeOf(const OptionRow &row, const CompileOptions &options,
                           Builder &builder) {
  return std::visit(AttributeMaker(options, builder), row.value);
}

void pcc::setFromAttribute(const OptionRow &row, Attribute attribute,
                           CompileOptions &options) {
  std::visit(AttributeReader(attribute, options), row.value);
}
