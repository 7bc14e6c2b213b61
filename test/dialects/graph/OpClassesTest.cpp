//===- OpClassesTest.cpp - every graph op has decided its classes ---------===//

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <fstream>
#include <gtest/gtest.h>
#include <set>

using namespace mlir;
using namespace pcc::graph;

namespace {
/// A kind or fact, and the test for it.
struct OpClass {
  StringRef name;
  bool (*holds)(RegisteredOperationName op);
};

template <template <typename> class Trait>
bool has(RegisteredOperationName op) {
  return op.hasTrait<Trait>();
}
template <typename Interface> bool is(RegisteredOperationName op) {
  return op.hasInterface<Interface>();
}
} // namespace

static const OpClass kinds[] = {
    {"IsDeclaration", has<IsDeclaration>},
    {"IsSource", has<IsSource>},
    {"IsElementWise", has<IsElementWise>},
    {"IsLayout", has<IsLayout>},
    {"IsIndexing", has<IsIndexing>},
    {"IsWindow", has<IsWindow>},
    {"IsRowWise", has<IsRowWise>},
    {"IsContraction", has<IsContraction>},
    {"AttentionOpInterface", is<AttentionOpInterface>},
    {"IsUpdate", has<IsUpdate>},
};

static const OpClass facts[] = {
    {"MovesElements", has<MovesElements>},
    {"IsView", has<IsView>},
    {"KeepsElements", has<KeepsElements>},
    {"IsStored", has<IsStored>},
    {"SumsProducts", has<SumsProducts>},
    {"IsExpensive", has<IsExpensive>},
    {"LosesDigits", has<LosesDigits>},
    {"GivesFinite", has<GivesFinite>},
    {"KeepsFinite", has<KeepsFinite>},
    {"IsComposite", has<IsComposite>},
    {"GradientOpInterface", is<GradientOpInterface>},
    {"CostOpInterface", is<CostOpInterface>},
};

/// Returns the names of the classes of `op` among `classes`, separated by
/// spaces.
static std::string classesOf(RegisteredOperationName op,
                             ArrayRef<OpClass> classes) {
  SmallVector<StringRef> names;
  for (const OpClass &each : classes)
    if (each.holds(op))
      names.push_back(each.name);
  return llvm::join(names, " ");
}

namespace {
struct OpClasses : testing::Test {
  OpClasses() { context.loadDialect<GraphDialect>(); }

  ArrayRef<RegisteredOperationName> ops() {
    return context.getRegisteredOperationsByDialect("graph");
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};
} // namespace

// The table is the review of an op that is added or changed: its row follows
// from the .td file, and whoever adds the op writes the row.
TEST_F(OpClasses, TableHasEveryOp) {
  std::set<std::string> rows;
  for (RegisteredOperationName op : ops()) {
    std::string row = llvm::formatv("{0,-32}{1,-22}{2}", op.getStringRef(),
                                    classesOf(op, kinds), classesOf(op, facts));
    rows.insert(StringRef(row).rtrim().str());
  }
  std::ifstream file(PCC_OP_CLASSES);
  std::vector<std::string> table;
  for (std::string line; std::getline(file, line);)
    if (!StringRef(line).starts_with("#"))
      table.push_back(line);
  EXPECT_EQ(llvm::join(table, "\n"), llvm::join(rows, "\n"))
      << "decide the classes in the .td file, then write the rows into "
      << PCC_OP_CLASSES;
}

TEST_F(OpClasses, EveryOpHasOneKind) {
  for (RegisteredOperationName op : ops())
    EXPECT_EQ(llvm::count_if(
                  kinds, [&](const OpClass &kind) { return kind.holds(op); }),
              1)
        << op.getStringRef().str() << ": " << classesOf(op, kinds);
}

TEST_F(OpClasses, FactsAgree) {
  auto implies = [](RegisteredOperationName op, bool one, bool other) {
    EXPECT_TRUE(!one || other) << op.getStringRef().str();
  };
  for (RegisteredOperationName op : ops()) {
    const bool isLayout = has<IsLayout>(op);
    implies(op, has<KeepsElements>(op), has<IsView>(op));
    implies(op, has<IsView>(op), isLayout && has<MovesElements>(op));
    implies(op, isLayout || has<MovesElements>(op), has<KeepsFinite>(op));
    implies(op, has<IsStored>(op), has<IsSource>(op));
    implies(op, has<IsExpensive>(op), has<IsElementWise>(op));
    implies(op, has<GivesFinite>(op), !has<KeepsFinite>(op));
    implies(op, is<AttentionOpInterface>(op) || has<IsContraction>(op),
            has<SumsProducts>(op) && is<CostOpInterface>(op));
  }
}
