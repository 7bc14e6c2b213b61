"""Tests the scripts that render docs/ on small texts."""
import os
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(SOURCE, "tools", "dev"), os.path.join(SOURCE, "test", "passes", "1-import")]

import check_links
import draw_architecture
import render_docs
import sharding_probe
from pages import built, cases, dialects, examples, exit_codes, json_fields, markdown, onnx_ops, options, passes, records


def tree_of(folder, files):
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)


class Cases(unittest.TestCase):
    FILE = """// RUN: pcc-opt %s --first-pass --split-input-file \\
// RUN:   | pcc-opt -second-pass | FileCheck %s

#whole = #dist.sharding<"[-]">
// What it shows.
// CHECK-LABEL: @one
func.func @one() attributes {a = #whole} {
  // CHECK-NEXT: return
  return
}
func.func @other() { return }

// -----

module {
func.func @two() { return }
}
"""

    def find(self, name):
        with tempfile.TemporaryDirectory() as root:
            tree_of(root, {"test/a.mlir": self.FILE})
            return cases.find("test/a.mlir", name, root)

    def test_a_case_is_its_op_with_what_it_refers_to_and_without_the_test(self):
        case = self.find("one")
        self.assertEqual(case.text, '#whole = #dist.sharding<"[-]">\n\n// What it shows.\nfunc.func @one() attributes {a = #whole} {\n  return\n}')
        self.assertEqual(case.command, "pcc-opt --first-pass test/a.mlir")

    def test_an_op_in_a_module_brings_the_module(self):
        self.assertEqual(self.find("two").text, "module {\nfunc.func @two() { return }\n}")

    def test_without_a_name_it_is_the_first_part(self):
        self.assertIn("@other", self.find("").text)
        self.assertNotIn("@two", self.find("").text)

    def test_a_case_that_is_not_there(self):
        with self.assertRaises(ValueError):
            self.find("three")

    def test_the_module_that_the_printer_adds_goes(self):
        self.assertEqual(cases.without_module("#a = 1\nmodule {\n  op\n}\n"), "#a = 1\nop")
        self.assertEqual(cases.without_module("module attributes {a} {\n  op\n}"), "module attributes {a} {\n  op\n}")


class Descriptions(unittest.TestCase):
    def test_pointers_go_and_leading_words_are_bold(self):
        text = "Adds.\n\nSharding: any dim.\n[example: test/a.mlir @one]"
        self.assertEqual(examples.prose(text), "Adds.\n\n**Sharding:** any dim.")

    def test_sentences(self):
        for phrase, sentence in (("adds two  tensors", "Adds two tensors."), ("`x` is", "`x` is."), ("max(x, 0)", "max(x, 0)."), ("", "")):
            self.assertEqual(markdown.sentence(phrase), sentence)

    def test_cells_have_no_columns(self):
        self.assertIn(r"a\|b", markdown.table(["x"], [["a|b"]]))


class Records(unittest.TestCase):
    TD = """include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
def D : Dialect { let name = "d"; let summary = "a dialect"; let cppNamespace = "::d"; }
def D_Kind : I32EnumAttr<"Kind", "a kind", [I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">]>;
class D_Unary<string name> : Op<D, name> {
  let summary = "does";
  let description = [{
    Does it.
  }];
  let arguments = (ins D_Kind:$kind, Optional<AnyType>:$x, DefaultValuedAttr<I64Attr, "1">:$n);
  let assemblyFormat = "$x attr-dict";
}
def D_FooOp : D_Unary<"foo">;
"""

    def test_an_op_with_operands_and_attributes(self):
        with tempfile.NamedTemporaryFile("w", suffix=".td") as file:
            file.write(self.TD)
            file.flush()
            dialect = records.read_dialect(file.name, "d")
        [op] = dialect.ops
        self.assertEqual((op.name, op.cpp, op.description, op.base), ("d.foo", "FooOp", "Does it.", "D_Unary"))
        self.assertEqual([f.role for f in op.fields], ["operand", "attribute", "attribute"])
        self.assertIn("optional", op.fields[0].meaning)
        self.assertEqual([f.meaning for f in op.fields[1:]], ["a kind: `a`, `b`", "integer, default 1"])
        self.assertEqual([e.name for e in dialect.enums], ["Kind"])


class Passes(unittest.TestCase):
    PIPELINE = """static void addImport(OpPassManager &) {}

static void addPrepare(OpPassManager &manager) {
  // This comes first,
  // for a reason.
  manager.addPass(prepare::createAddLoss());
  manager.addPass(createCSEPass());
}
"""

    def test_the_passes_of_a_phase_with_their_reasons(self):
        self.assertEqual(passes.steps(self.PIPELINE, "Import"), [])
        self.assertEqual(passes.steps(self.PIPELINE, "Prepare"),
                         [passes.Step("AddLoss", "This comes first, for a reason."), passes.Step("CSE", "")])

    def test_every_pass_of_the_tree_is_in_the_pipeline(self):
        for phase in passes.phases():
            self.assertEqual(passes.PhasePage(phase, examples.Examples(None)).missing(), [], phase.folder)


class Options(unittest.TestCase):
    HELP = """usage:
  pcc x MODEL [OPTIONS]

does something

It does it well.

examples:
  pcc x --tp 2

arguments:
  MODEL                     the model

options:
  --tp N                    size of axis tp
  -o, --output A-LONG-FILE.json
                            of x
  --json                    as JSON; not with --schedule
  --mode a|b                which

commands: x
"""

    def test_the_parts_of_a_help(self):
        parsed = options.parse(self.HELP)
        self.assertEqual((parsed.about, parsed.examples, parsed.usage), (["does something", "It does it well."], ["pcc x --tp 2"], "pcc x MODEL [OPTIONS]"))
        self.assertEqual(list(parsed.sections), ["Arguments", "Options"])
        words = {e.words: (options.value_in_words(e.value), e.meaning) for e in parsed.sections["Options"]}
        self.assertEqual(words["--tp"], ("whole number", "size of axis tp"))
        self.assertEqual(words["-o,--output"], ("A-LONG-FILE.json", "of x"))
        self.assertEqual(words["--json"], ("", "as JSON; not with --schedule"))
        self.assertEqual(words["--mode"], ("`a`, `b`", "which"))

    def test_a_group_that_is_known_is_named_only(self):
        parsed, known = options.parse(self.HELP), {}
        self.assertIn("--tp", "\n".join(options.section("x", parsed, known)))
        again = "\n".join(options.section("y", parsed, known))
        self.assertNotIn("`--tp`", again)
        self.assertIn("as of [pcc x](#pcc-x)", again)


class ExitCodes(unittest.TestCase):
    def test_comments_before_and_behind(self):
        text = "enum ExitCode : int {\n  /// It is\n  /// done.\n  Done = 0,\n  Defect = 1, ///< a defect\n};\n"
        with tempfile.TemporaryDirectory() as root:
            tree_of(root, {exit_codes.SOURCE: text})
            self.assertEqual(exit_codes.codes(root), [(0, "Done", "It is done."), (1, "Defect", "a defect")])


class Json(unittest.TestCase):
    def fields(self, *samples):
        fields = json_fields.Fields()
        for sample in samples:
            fields.add(sample)
        return fields

    def test_types(self):
        fields = self.fields({"a": [[1]], "b": None, "c": [{"d": 1.5}], "mesh": {"tp": 2}}, {"b": "x", "c": []})
        self.assertEqual({n: fields.type_of(n) for n in fields.names()}, {
            "a": "list of lists of integers", "b": "text or null", "c": "list of objects", "c[].d": "number", "mesh": "object",
            "mesh.NAME": "integer"})

    def test_fields_and_rows_have_to_match(self):
        documents = {"x": self.fields({"a": 1, "b": {"c": 2}})}
        def problems(*rows):
            return list(json_fields.problems(documents, {"x": list(rows)}))
        a, b = ("a", "", ""), ("b", "", "", json_fields.FOLDED)
        self.assertEqual(problems(a, b), [])
        self.assertEqual(len(problems(a, ("b", "", ""))), 1, "b.c has no row")
        self.assertEqual(len(problems(b)), 1, "a has no row")
        self.assertEqual(len(problems(a, b, ("d", "", ""))), 1, "no sample has d")
        self.assertEqual(problems(a, b, ("d", "", "", json_fields.SELDOM)), [])


class OnnxOps(unittest.TestCase):
    def test_cells(self):
        self.assertEqual(onnx_ops.ranges([5, 1, 2, 3]), "1-3, 5")
        self.assertEqual([onnx_ops.split_cell(d) for d in ([0, 0], [0, 3], [3, 3], [2, 3])], ["", "none", "all", "2 of 3"])
        self.assertEqual(onnx_ops.operands(["X", "1"]), "`X`, operand 1")

    def test_a_seed_per_dim_and_what_is_made_of_it(self):
        module = ('module attributes {graph.bound_dims = {}} {\n  func.func @main(%arg0: tensor<2x1x3xf32>) -> '
                  '(tensor<2x1x3xf32> {graph.name = "y"}) {\n')
        self.assertEqual([m.count("dist.sharding<") for m in sharding_probe.seeded(module)], [1, 1])
        self.assertIn('"[-, -, 3@x:2]"', sharding_probe.seeded(module)[1])
        decided = ('#split = #dist.sharding<"[2@x:2]">\n#whole = #dist.sharding<"[-]">\n  %0 = graph.{} %arg0\n'
                   '  %1 = dist.reshard %0 from #whole to #split')
        self.assertTrue(sharding_probe.keeps_parts(decided.replace("{}", "softmax")))
        self.assertFalse(sharding_probe.keeps_parts(decided.replace("{}", "iota")))


class Pages(unittest.TestCase):
    def test_a_page_that_differs_is_missing_or_is_left_over(self):
        page = markdown.notice("x") + "\n"
        with tempfile.TemporaryDirectory() as root:
            tree_of(root, {"docs/a.md": page + "old\n", "docs/b.md": page, "docs/c.md": "by hand\n"})
            found = list(render_docs.differing({"docs/a.md": page + "new\n", "docs/d.md": page}, root))
            self.assertEqual([f.split(" ")[0] for f in found], ["docs/a.md:2", "docs/d.md", "docs/b.md"])
            render_docs.write({"docs/a.md": page + "new\n", "docs/d.md": page}, root)
            self.assertEqual(list(render_docs.differing({"docs/a.md": page + "new\n", "docs/d.md": page}, root)), [])
            self.assertEqual(sorted(os.listdir(os.path.join(root, "docs"))), ["a.md", "c.md", "d.md"])

    def test_a_tool_that_is_not_there(self):
        with self.assertRaises(built.Missing):
            built.Tools("/nowhere").call("pcc")


class Drawings(unittest.TestCase):
    def test_edges_that_follow_from_others_go(self):
        self.assertEqual(draw_architecture.reduced({("a", "b"), ("b", "c"), ("a", "c")}), [("a", "b"), ("b", "c")])

    def test_text_is_wrapped_to_lines_of_one_width(self):
        lines = draw_architecture.wrapped("cut the graph into stages joined by transfers", 11.5, 250)
        self.assertEqual(len(lines), 2)
        self.assertTrue(all(draw_architecture.text_width(line, 11.5) <= 250 for line in lines))

    def test_every_layer_has_a_box_and_every_arrow_a_way(self):
        self.assertEqual(set(draw_architecture.LAYERS), set(draw_architecture.BOXES))
        for above, under in draw_architecture.reduced(draw_architecture.includes()):
            self.assertGreaterEqual(len(draw_architecture.route(above, under)), 2)

    def test_no_arrow_crosses_a_box(self):
        for above, under in draw_architecture.reduced(draw_architecture.includes()):
            points = draw_architecture.route(above, under)
            for (ax, ay), (bx, by) in zip(points, points[1:]):
                for name in draw_architecture.BOXES:
                    x, y, width, height = draw_architecture.place(name)
                    across = x < ax < x + width if ax == bx else min(ax, bx) < x + width and x < max(ax, bx)
                    along = y < ay < y + height if ay == by else min(ay, by) < y + height and y < max(ay, by)
                    self.assertFalse(across and along, f"the arrow from {above} to {under} crosses {name}")


class Links(unittest.TestCase):
    def says(self, text, count):
        with tempfile.TemporaryDirectory() as root:
            tree_of(root, {"docs/a.md": text, "docs/b.md": "# A heading\n"})
            self.assertEqual(len(check_links.check(root)), count, text)

    def test_files_and_headings(self):
        self.says("[b](b.md) [b](b.md#a-heading) [`b`](../docs/b.md) [x](https://x.org) `[c](c.md)`\n", 0)
        self.says("[c](c.md)\n", 1)
        self.says("[b](b.md#another)\n", 1)
        self.says("# Here\n[x](#here) [y](#there)\n", 1)

    def test_paths_in_code(self):
        self.says("`docs/b.md` `docs/*.md` `docs/NAME.cpp` `cat docs/b.md` `docs`\n", 0)
        self.says("`docs/c.md`\n", 1)


class Operands(unittest.TestCase):
    def test_a_variadic_operand_has_all_places_from_its_own_on(self):
        fields = tuple(records.Field("operand", name, "") for name in ("x", "rest"))
        op = records.Op("d.x", "X", "", "", "", fields, "", "")
        self.assertEqual(dialects.operand_names(op, [0, 1, 2]), ["`x`", "`rest`"])


if __name__ == "__main__":
    unittest.main()
