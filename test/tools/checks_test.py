"""Tests that the checks of tools/dev find mistakes, on small trees with one mistake each."""
import os
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "tools", "dev"))

import check_attributes
import check_english
import check_examples
import check_format
import check_layers
import check_names
import check_readme
import check_sizes


def problems(check, files):
    """Returns the problems that `check` finds in a tree with `files`: path -> text."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)) or root, exist_ok=True)
            with open(os.path.join(root, name), "w") as f:
                f.write(text)
        return check(root)


class Layers(unittest.TestCase):
    def says(self, name, header, count):
        self.assertEqual(len(problems(check_layers.check, {name: f"#include {header}\n"})), count, f"{name} includes {header}")

    def test_a_phase_reaches_dialects_plan_and_itself(self):
        for header in ('"dialects/graph/GraphOps.h"', '"passes/plan/Cost.h"', '"passes/4-shard/Passes.h"', '"mlir/IR/Builders.h"'):
            self.says("passes/4-shard/Propagate.cpp", header, 0)

    def test_a_phase_reaches_no_other_phase_and_no_runtime(self):
        for header in ('"passes/5-localize/Passes.h"', '"runtime/base/AtomicFile.h"', '"passes/Options.h"'):
            self.says("passes/4-shard/Propagate.cpp", header, 1)

    def test_only_emit_knows_the_program_format(self):
        self.says("passes/7-emit/WriteProgram.cpp", '"runtime/program/Program.h"', 0)
        self.says("passes/7-emit/WriteProgram.cpp", '"runtime/engine/Rank.h"', 1)

    def test_dialects_know_no_sibling(self):
        self.says("dialects/graph/GraphOps.cpp", '"dialects/dist/DistDialect.h"', 1)
        self.says("dialects/graph/GraphOps.td", '"mlir/IR/OpBase.td"', 0)

    def test_runtime_and_plan_know_no_llvm(self):
        for name in ("runtime/engine/Rank.cpp", "passes/plan/Cost.cpp"):
            self.says(name, '"llvm/ADT/SmallVector.h"', 1)
            self.says(name, "<mlir/IR/Builders.h>", 1)

    def test_sharding_lies_below_dialects_plan_and_runtime(self):
        for name in ("passes/plan/Cost.cpp", "passes/4-shard/Propagate.cpp", "dialects/dist/DistOps.cpp", "runtime/program/Layout.cpp",
                     "runtime/comm/mpi/Mpi.cpp", "sharding/View.cpp"):
            self.says(name, '"sharding/Sharding.h"', 0)
        self.says("passes/plan/cluster/Cost.cpp", '"dialects/dist/DistDialect.h"', 1)
        for header in ('"dialects/dist/DistDialect.h"', '"runtime/base/AtomicFile.h"', '"passes/plan/Cost.h"', '"llvm/ADT/SmallVector.h"'):
            self.says("sharding/View.cpp", header, 1)

    def test_plain_code_sees_no_ir_through_others(self):
        files = {"passes/plan/Cost.cpp": '#include "sharding/Sharding.h"\n', "sharding/Sharding.h": '#include "sharding/A.h"\n',
                 "sharding/A.h": '#include "mlir/IR/Attributes.h"\n'}
        self.assertEqual(len(problems(check_layers.check, files)), 3)

    def test_the_tool_sees_the_table_of_options(self):
        self.says("tools/pcc/OptionsCli.cpp", '"passes/options/OptionTable.h"', 0)
        self.says("tools/pcc/OptionsCli.cpp", '"passes/options/OptionAttrs.h"', 1)
        self.says("passes/options/OptionTable.h", '"mlir/IR/Builders.h"', 1)

    def test_the_python_module_is_a_shell(self):
        for header in ('"passes/Compile.h"', '"passes/options/OptionTable.h"', '"runtime/launch/thread/RankTeam.h"', '"tools/pcc/CompileCommand.h"', '"python-bindings/src/Errors.h"'):
            self.says("python-bindings/src/Ranks.cpp", header, 0)
        for header in ('"passes/driver/Compilation.h"', '"sharding/Mesh.h"', '"tools/pcc/ByteSize.h"', '"runtime/comm/thread/ThreadJob.h"'):
            self.says("python-bindings/src/Ranks.cpp", header, 1)

    def test_mpi_stays_in_its_folder(self):
        self.says("runtime/comm/mpi/Mpi.cpp", "<mpi.h>", 0)
        self.says("runtime/engine/Rank.cpp", "<mpi.h>", 1)

    def test_includes_are_paths_from_the_root(self):
        self.says("passes/plan/Cost.cpp", '"Cost.h"', 1)


class Names(unittest.TestCase):
    PASS = {
        "passes/4-shard/PropagateShardings.cpp": "#define GEN_PASS_DEF_PROPAGATESHARDINGS\n",
        "passes/4-shard/Passes.td": 'def PropagateShardings : Pass<"propagate-shardings">;\n',
        "test/passes/4-shard/propagate-shardings.mlir": "",
        "test/passes/4-shard/propagate-shardings-invalid.mlir": "",
    }

    def test_a_pass_with_one_name_is_fine(self):
        self.assertEqual(problems(check_names.check, self.PASS), [])

    def test_each_place_of_the_name_counts(self):
        for name in self.PASS:
            if not name.endswith(".cpp"):
                without = {k: v for k, v in self.PASS.items() if k != name}
                self.assertEqual(len(problems(check_names.check, without)), 1, f"without {name}")

    def test_names_that_say_nothing(self):
        for name in ("passes/plan/Utils.h", "passes/common/X.h", "runtime/MpiHelpers.cpp", "test/helpers/x.py"):
            self.assertEqual(len(problems(check_names.check, {name: ""})), 1, name)
        self.assertEqual(problems(check_names.check, {"runtime/comm/Communicator.h": ""}), [])

    def test_exit_codes_are_names(self):
        for code in ('return {2, "x"};', "return Status{6,\n    path + \"x\"};", 'Status::error(3, "x")', "fail(4, text);", "_exit(1);",
                     "status.code() == 3", "int exitCode = 5;", "fail(/*exitCode=*/7);", "error.code = 6;", "getExitCode() != 15"):
            self.assertEqual(len(problems(check_names.check, {"runtime/A.cpp": code + "\n"})), 1, code)
        for code in ("return {4, 4, true};", "Status::error(CannotMeet, text)", "_exit(127);", "code > 128", "exitCode != 0", "// exit code = 3",
                     "ExitCode{130}", "fail(0, text);", 'std::string code(3, "x");'):
            self.assertEqual(problems(check_names.check, {"runtime/A.cpp": code + "\n"}), [], code)
        self.assertEqual(problems(check_names.check, {"test/runtime/ATest.cpp": "EXPECT_EQ(code, 3); code == 3\n"}), [])

    def test_unfinished_places(self):
        self.assertEqual(len(problems(check_names.check, {"runtime/A.cpp": "// TO" "DO: the rest\n"})), 1)


class Sizes(unittest.TestCase):
    def test_long_files(self):
        self.assertEqual(problems(check_sizes.check, {"runtime/A.cpp": "\n" * 800}), [])
        self.assertEqual(len(problems(check_sizes.check, {"runtime/A.cpp": "\n" * 801})), 1)

    def test_long_functions(self):
        def tree_of(calls):
            body = "  call();\n" * calls
            return {"runtime/a.cpp": f"namespace n {{\nint f(int a,\n      int b) {{\n{body}}}\n}}\n", "runtime/a.py": "def f():\n" + body}

        for ending, calls in (("cpp", 58), ("py", 59)):
            name = f"runtime/a.{ending}"
            self.assertEqual(problems(check_sizes.check, {name: tree_of(calls)[name]}), [])
            self.assertEqual(len(problems(check_sizes.check, {name: tree_of(calls + 1)[name]})), 1)


class Format(unittest.TestCase):
    def test_drawings_stay_with_our_configuration_and_not_with_llvms(self):
        self.assertTrue(check_format.keeps_drawings())
        with tempfile.TemporaryDirectory() as root:
            with open(os.path.join(root, ".clang-format"), "w") as f:
                f.write("BasedOnStyle: LLVM\n")
            self.assertFalse(check_format.keeps_drawings(root))

    def test_wide_prose_is_found_and_wide_drawings_are_not(self):
        prose, drawn = "// " + "word " * 15 + "at", "//   " + "word " * 16
        self.assertEqual(problems(check_format.wide_comments, {"runtime/a.cpp": f"{prose}\n{drawn}\n"}), [])
        self.assertEqual(len(problems(check_format.wide_comments, {"runtime/a.cpp": prose + " more\n"})), 1)


class English(unittest.TestCase):
    def says(self, name, text, count):
        self.assertEqual(len(problems(lambda root: check_english.found([name], root)[1], {name: text})), count, f"{name}: {text}")

    def test_a_sentence_without_a_subject_in_each_kind_of_file(self):
        for name in ("runtime/a.h", "test/runtime/a.cpp", "bench/a.cpp", "passes/A.def", "runtime/a.fbs"):
            self.says(name, "// What it gives.\n", 1)
            self.says(name, "// Returns what it gives.\n", 0)
        for name in ("test/CMakeLists.txt", "cmake/A.cmake", "tools/dev/a.py"):
            self.says(name, "# What it gives.\n", 1)
            self.says(name, "# Returns what it gives.\n", 0)
        self.says("tools/dev/a", "#!/bin/sh\n# What it gives.\n", 1)

    def test_docstrings_and_no_other_strings(self):
        self.says("a.py", '"""What it gives."""\n', 1)
        self.says("a.py", 'def f():\n    """Returns a number.\n\n    What it gives."""\n', 1)
        self.says("a.py", 'text = """\nWhat it gives.\n"""\n', 0)

    def test_lines_of_one_block_are_one_text(self):
        self.says("runtime/a.h", "// Returns the number that\n// What gives.\n", 0)
        self.says("runtime/a.h", "// Returns a number.\n//\n// What it gives.\n", 1)

    def test_other_files_are_not_read(self):
        self.says("README.md", "What it gives.\n", 0)
        self.says("runtime/a.txt", "# What it gives.\n", 0)

    def test_the_share_of_sentences_is_limited(self):
        good = "".join(f"// Returns the number {i}.\n\n" for i in range(199))
        self.assertEqual(problems(check_english.check, {"runtime/a.h": good + "// What it gives.\n"}), [])
        self.assertEqual(len(problems(check_english.check, {"runtime/a.h": "// What it gives.\n"})), 2)


class Readme(unittest.TestCase):
    PHASES = 'PCC_PHASE(Import, "1-import", "reads the model", createVerifyImported)\n'

    TABLE = "| phase | meaning |\n|---|---|\n| [1-import](passes/1-import) | reads the model | x |\n"
    LINTS = 'PCC_LINT(FullGather, "PCC-L001", "full-gather", "gathers all")\n'
    LINT_TABLE = "| code | name | meaning |\n|---|---|---|\n| PCC-L001 | full-gather | gathers all |\n"

    def says(self, readme, lints=LINT_TABLE, bench=""):
        return problems(check_readme.check, {"passes/Phases.def": self.PHASES, "README.md": readme, "passes/1-import/README.md": "",
                                             "dialects/dist/Lints.def": self.LINTS, "passes/explain/README.md": lints, "bench/README.md": bench})

    def test_the_same_table(self):
        self.assertEqual(self.says(self.TABLE), [])

    def test_another_meaning_and_a_missing_row(self):
        self.assertEqual(len(self.says("| `1-import` | reads something |\n")), 1)
        self.assertEqual(len(self.says("no table\n")), 1)

    def test_times_before_the_first_section(self):
        bench = "| 167 ms **0.58** | 0.33, 0.42 |\n"
        for text, count in (("in 167 ms, 0.33 s\n", 0), ("in 67 ms\n", 1), ("in 3.42 s\n", 1), ("\n## A\n\ntakes 3 ms\n", 0)):
            self.assertEqual(len(self.says(text + self.TABLE, bench=bench)), count, text)

    def test_lints(self):
        for table in ("", "| PCC-L001 | full-gather | gathers a part |\n", self.LINT_TABLE + "| PCC-L002 | padding | pads |\n"):
            self.assertEqual(len(self.says(self.TABLE, table)), 1, table)


class Examples(unittest.TestCase):
    def says(self, pointer, count):
        files = {"dialects/dist/DistOps.td": f"  let description = [{{\n    {pointer}\n  }}];\n",
                 "test/dialects/dist/reshard.mlir": "func.func @gather_one_axis() {\n"}
        self.assertEqual(len(problems(check_examples.check, files)), count, pointer)

    def test_an_example_that_is_there(self):
        self.says("[example: test/dialects/dist/reshard.mlir @gather_one_axis]", 0)
        self.says("[example: test/dialects/dist/reshard.mlir]", 0)

    def test_a_file_or_a_case_that_is_not(self):
        self.says("[example: test/dialects/dist/moved.mlir @gather_one_axis]", 1)
        self.says("[example: test/dialects/dist/reshard.mlir @gather]", 1)
        self.says("[example: test/dialects/dist/moved.mlir]", 1)


class Attributes(unittest.TestCase):
    DECLARED = 'def Dist_Mesh : DiscardableAttr<"dist.mesh", MeshKind, [OnModule], "1-import", "7-emit",\n'

    def says(self, name, text, count):
        files = {"dialects/dist/DistDiscardableAttrs.td": self.DECLARED,
                 "dialects/dist/DistOps.td": 'def Dist_PinOp : Dist_Op<"pin", [Pure]> {\n', name: text}
        self.assertEqual(len(problems(check_attributes.check, files)), count, text)

    def test_a_literal_where_a_constant_should_be(self):
        self.says("passes/4-shard/A.cpp", 'module->getAttr("dist.mesh");\n', 1)
        self.says("passes/4-shard/A.cpp", "module->getAttr(dist::meshName);  // \"dist.mesh\"\n", 0)
        self.says("passes/4-shard/A.cpp", 'emitError("has no \'dist.mesh\'");\n', 0)

    def test_an_undeclared_attribute(self):
        self.says("passes/4-shard/A.cpp", 'op->setAttr("dist.meshes", mesh);\n', 1)
        self.says("passes/4-shard/A.cpp", 'isOp("dist.pin");\n', 0)
        self.says("test/passes/4-shard/a.mlir", "module attributes {dist.mehs = #mesh, dist.whole} {\n", 2)
        self.says("test/passes/4-shard/a.mlir", "module attributes {dist.mesh = #mesh} {\n%y = dist.pin %x\n", 0)
        self.says("test/passes/4-shard/a.mlir", "#mesh = #dist.meshes<tp = 2>\n", 0)

    def test_an_attribute_that_is_declared_twice(self):
        self.says("dialects/pipe/PipeDiscardableAttrs.td", self.DECLARED, 1)


if __name__ == "__main__":
    unittest.main()
