//===- OptionTableTest.cpp - tests of the table of options ----------------===//

#include "passes/options/OptionText.h"
#include "status/Suggestions.h"
#include "tools/pcc/OptionsCli.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace pcc;

using Words = std::vector<std::string>;

/// Returns the options that a command line gives.
static CompileOptions parse(const Words &words) {
  CLI::App app;
  CompileOptions options;
  for (auto commands : {OptionCommands::All, OptionCommands::CompileAndExplain,
                        OptionCommands::Compile})
    tool::addOptions(app, options, commands);
  Words reversed(words.rbegin(), words.rend());
  if (std::find(words.begin(), words.end(), "--transformer") == words.end())
    reversed.push_back("model.onnx");
  app.parse(reversed);
  return options;
}

/// Returns the row of the option `name`.
static const OptionRow &rowOf(const std::string &name) {
  for (const OptionRow &row : optionTable())
    if (row.name == name)
      return row;
  throw std::out_of_range(name);
}

/// Returns the words of a command line that give options of these texts.
static Words wordsOf(const OptionTexts &texts) {
  Words words;
  for (const auto &[key, text] : texts) {
    const std::string name = key.substr(0, key.find(' '));
    const std::string entry =
        name == key ? "" : key.substr(name.size() + 1) + "=";
    const OptionRow &row = rowOf(name);
    if (std::holds_alternative<FlagValue>(row.value)) {
      words.push_back(name);
      continue;
    }
    const bool isList = std::holds_alternative<TextsValue>(row.value);
    std::istringstream stream(text);
    for (std::string value; std::getline(stream, value, isList ? ' ' : '\n');) {
      if (value.ends_with('x') || value.ends_with(','))
        value.pop_back();
      words.insert(words.end(), {name, entry + value});
    }
  }
  return words;
}

/// Sample values of all options that shape the result. No sample is the
/// default.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
static const std::map<std::string, Words> samples = {
    {"--dim", {"batch=8", "seq=128"}},
    {"--shape", {"ids=8x32", "x=4"}},
    {"--batch-dim", {"ids=0", "x=1"}},
    {"--transformer", {"layers=2,hidden=8,heads=2,ffn=8,vocab=9,seq=4,gated"}},
    {"--random-weights", {"18446744073709551615"}},
    {"--tp", {"2"}},
    {"--pp", {"3"}},
    {"--dp", {"4"}},
    {"--cp", {"5"}},
    {"--ep", {"6"}},
    {"--mesh", {"a=2,b=4"}},
    {"--microbatches", {"4"}},
    {"--schedule", {"zb-h1"}},
    {"--virtual-stages", {"2"}},
    {"--shard", {"w=[tp,-]", "v=[-]"}},
    {"--configuration", {"none"}},
    {"--stage-at", {"node_1", "node_2"}},
    {"--preset", {"megatron,zero1"}},
    {"--train", {}},
    {"--loss", {"cross_entropy(logits, labels)"}},
    {"--optimizer", {"adamw"}},
    {"--lr", {"0.1"}},
    {"--lr-decay", {"1e-3"}},
    {"--momentum", {"0.9"}},
    {"--betas", {"0.9,0.95"}},
    {"--eps", {"1e-08"}},
    {"--weight-decay", {"0"}},
    {"--clip-norm", {"1"}},
    {"--reproducible", {}},
    {"--recompute", {"full"}},
    {"--lr-schedule", {"cosine(steps=10)"}},
    {"--loss-scale", {"1024"}},
    {"--dropout", {"off"}},
    {"--seed", {"7"}},
    {"--decay", {"*.weight", "b"}},
    {"--freeze", {"wte*"}},
    {"--train-only", {"lm_head"}},
    {"--target", {"cuda"}},
    {"--gpu-arch", {"sm_80"}},
    {"--tf32", {}},
    {"--cpu", {"x86-64-v3,native"}},
    {"--cluster", {testing::TempDir() + "OptionTableTest.toml"}},
    {"--memory-limit", {"80GiB"}},
    {"--dtype", {"bf16"}},
};

/// Writes the file that the sample of --cluster names.
static void writeClusterFile() {
  std::ofstream(samples.at("--cluster").front()) << "\n";
}

/// Returns the words of one option with its sample values.
static Words sampleOf(const OptionRow &row) {
  Words words;
  for (const std::string &value : samples.at(row.name))
    words.insert(words.end(), {row.name, value});
  return words.empty() ? Words{row.name} : words;
}

TEST(OptionTable, EveryRowSaysWhatItIs) {
  const std::set<std::string> groups = {
      "",          modelGroup,  parallelismGroup, trainingGroup,
      targetGroup, phasesGroup, outputGroup};
  std::set<std::string> names;
  for (const OptionRow &row : optionTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(groups.count(row.group)) << row.name;
    EXPECT_GT(std::string(row.help).size(), 10u) << row.name;
    EXPECT_TRUE(!row.isOpen || !row.words.empty()) << row.name;
  }
}

/// Returns `name` with one letter inserted, deleted, replaced or exchanged with
/// its neighbor.
static std::string mistyped(std::string name, std::mt19937 &random) {
  auto below = [&](size_t limit) { return random() % limit; };
  const size_t begin = name.find_first_not_of('-');
  const size_t at = begin + below(name.size() - begin);
  const char letter = char('a' + below(26));
  switch (below(4)) {
  case 0:
    return name.insert(at, 1, letter);
  case 1:
    return name.erase(at, 1);
  case 2:
    name[at] = letter;
    return name;
  default:
    if (at + 1 < name.size())
      std::swap(name[at], name[at + 1]);
    return name;
  }
}

TEST(OptionTable, TyposOfOptionsAreUnderstood) {
  std::vector<std::string> names;
  for (const OptionRow &row : optionTable())
    if (const std::string_view name = row.name; name.starts_with("-"))
      names.emplace_back(name.substr(name.rfind(',') + 1));
  std::mt19937 random(1);
  constexpr int typos = 2000;
  int understood = 0;
  for (int i = 0; i < typos; ++i) {
    const std::string &name = names[random() % names.size()];
    const auto similar = findSimilar(mistyped(name, random), names);
    understood +=
        std::find(similar.begin(), similar.end(), name) != similar.end();
  }
  EXPECT_GE(understood, typos * 97 / 100);
}

TEST(OptionTable, OnlyOptionsThatShapeTheResultAreAttributes) {
  for (const OptionRow &row : optionTable()) {
    if (!row.shapesResult)
      EXPECT_TRUE(row.attribute.empty() && !row.trainingEntry) << row.name;
    if (row.trainingEntry)
      EXPECT_STREQ(row.group, trainingGroup) << row.name;
  }
}

TEST(OptionText, EveryOptionThatShapesTheResultHasOne) {
  writeClusterFile();
  for (const OptionRow &row : optionTable()) {
    if (!row.shapesResult)
      continue;
    ASSERT_TRUE(samples.count(row.name)) << row.name << " needs a sample";
    const OptionTexts texts = textsOf(parse(sampleOf(row)));
    EXPECT_FALSE(texts.empty()) << row.name;
    for (const auto &[name, text] : texts)
      EXPECT_EQ(name.substr(0, name.find(' ')), row.name);
    EXPECT_EQ(textsOf(parse(wordsOf(texts))), texts) << row.name;
  }
  EXPECT_TRUE(textsOf(parse({})).empty());
}

TEST(OptionText, RoundTripsOfAllOptionsAtOnce) {
  writeClusterFile();
  Words words;
  for (const OptionRow &row : optionTable())
    if (row.shapesResult) {
      const Words sample = sampleOf(row);
      words.insert(words.end(), sample.begin(), sample.end());
    }
  const OptionTexts texts = textsOf(parse(words));
  EXPECT_EQ(texts.size(), samples.size() + 2) << "two options have two texts";
  EXPECT_EQ(textsOf(parse(wordsOf(texts))), texts);
}

TEST(OptionText, TakesTheFormOfDumps) {
  const OptionTexts texts = textsOf(
      parse({"--tp", "2", "--dim", "batch=8", "--shape", "ids=8x32", "--mesh",
             "a=2,b=4", "--lr", "0.010", "--betas", "0.9,0.95", "--preset",
             "fsdp,expert", "--memory-limit", "1.5GB", "--train"}));
  const OptionTexts expected = {{"--tp", "2"},
                                {"--dim batch", "8"},
                                {"--shape ids", "8x32"},
                                {"--mesh", "a=2,b=4"},
                                {"--lr", "0.01"},
                                {"--betas", "0.9,0.95"},
                                {"--preset", "fsdp expert"},
                                {"--memory-limit", "1500000000"},
                                {"--train", "true"}};
  EXPECT_EQ(texts, expected);
}

TEST(OptionText, OptionsOfTrainingAreKnownByTheirGroup) {
  const OptionTexts texts =
      trainingTextsOf(parse({"--tp", "2", "--lr", "1", "--freeze", "a"}));
  EXPECT_EQ(texts, (OptionTexts{{"--lr", "1"}, {"--freeze", "a"}}));
}
