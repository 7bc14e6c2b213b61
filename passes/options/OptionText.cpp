//===- OptionText.cpp - text form of options ------------------------------===//

#include "passes/options/OptionText.h"

#include <charconv>

using namespace pcc;

/// Returns the shortest text from which a parser reads exactly `number`.
static std::string textOf(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

static std::string textOf(int64_t number) { return std::to_string(number); }
static std::string textOf(uint64_t number) { return std::to_string(number); }
static std::string textOf(const std::string &text) { return text; }
static std::string textOf(Phase phase) { return std::string(folderOf(phase)); }

/// Converts each entry of `entries` to text and joins these texts to one text.
/// The character `separator` is between two entries. For example, the numbers
/// 0.9 and 0.999 with the separator ',' give "0.9,0.999". An empty list gives
/// an empty text.
template <typename Entry>
static std::string joined(const std::vector<Entry> &entries, char separator) {
  std::string text;
  for (const Entry &entry : entries)
    text += textOf(entry) + separator;
  return text.substr(0, text.size() - 1);
}

namespace {
/// Function object that adds the value of one option to the map `texts`, as
/// text. The class OptionValue is a variant with one type for each kind of
/// option, such as a flag or a number. std::visit calls the operator() for the
/// type that the variant contains. For example, the option --tp with the number
/// 2 adds an entry with the key "--tp" and the value "2". Adds nothing if the
/// user does not give the option.
class TextWriter {
public:
  TextWriter(const char *name, const CompileOptions &options,
             OptionTexts &texts)
      : name(name), options(options), texts(texts) {}

  void operator()(const FlagValue &member) const {
    if (member.in(options))
      texts[name] = "true";
  }
  void operator()(const TextValue &member) const {
    static const CompileOptions defaults;
    if (member.in(options) != member.in(defaults))
      texts[name] = member.in(options);
  }
  template <typename Number>
  void operator()(const NumberValue<Number> &member) const {
    if (const auto &value = member.in(options))
      texts[name] = textOf(*value);
  }
  void operator()(const TextsValue &member) const {
    if (!member.in(options).empty())
      texts[name] = joined(member.in(options), ' ');
  }
  void operator()(const PairValue &member) const {
    if (!member.in(options).empty())
      texts[name] = joined(member.in(options), ',');
  }
  void operator()(const SizesValue &member) const {
    for (const auto &[key, size] : member.in(options))
      texts[std::string(name) + " " + key] = std::to_string(size);
  }
  void operator()(const ShapesValue &member) const {
    for (const auto &[key, shape] : member.in(options))
      texts[std::string(name) + " " + key] = joined(shape, 'x');
  }
  void operator()(const AxesValue &member) const {
    std::vector<std::string> axes;
    for (const auto &[axis, size] : member.in(options))
      axes.push_back(axis + "=" + std::to_string(size));
    if (!axes.empty())
      texts[name] = joined(axes, ',');
  }
  void operator()(const AxisSizeValue &axis) const {
    if (auto given = options.axes.find(axis.name); given != options.axes.end())
      texts[name] = std::to_string(given->second);
  }
  void operator()(const ByteSizeValue &bytes) const {
    if (const auto &value = options.*bytes.member)
      texts[name] = std::to_string(*value);
  }
  void operator()(const FileTextValue &file) const {
    if (!(options.*file.path).empty())
      texts[name] = options.*file.path;
  }
  void operator()(const WordFlagValue &flag) const {
    if (options.*flag.member)
      texts[name] = "true";
  }

private:
  const char *name;
  const CompileOptions &options;
  OptionTexts &texts;
};
} // namespace

void pcc::addText(const OptionRow &row, const CompileOptions &options,
                  OptionTexts &texts) {
  std::visit(TextWriter(row.name, options, texts), row.value);
}

OptionTexts pcc::textsOf(const CompileOptions &options) {
  OptionTexts texts;
  for (const OptionRow &row : optionTable())
    if (row.shapesResult)
      addText(row, options, texts);
  return texts;
}

OptionTexts pcc::trainingTextsOf(const CompileOptions &options) {
  OptionTexts texts;
  for (const OptionRow &row : optionTable())
    if (row.group == std::string_view(trainingGroup))
      addText(row, options, texts);
  return texts;
}
