//===- ShardingText.cpp - printer and parser of shardings -----------------===//
#include "sharding/ShardingText.h"

#include <cctype>
#include <charconv>

namespace pcc::dist {

static std::string joinAxes(const SubAxes &axes, const Mesh *mesh) {
  std::string text;
  for (const SubAxis &axis : axes)
    text += (text.empty() ? "" : "+") + toString(axis, mesh);
  return text;
}

/// Returns the text of one factor of a dim. The sizes of all factors multiply
/// to the size of the dim. Example for a factor of size 64:
///
///   the axis tp splits the factor, without `brief`   64@tp
///   the axis tp splits the factor, with `brief`      tp
///   no axis splits the factor                        64
///
/// If `mesh` is not null, the text of a whole axis is only its name.
static std::string factorText(const Factor &factor, const Mesh *mesh,
                              bool brief) {
  if (factor.axes.empty())
    return std::to_string(factor.size);
  return (brief ? "" : std::to_string(factor.size) + "@") +
         joinAxes(factor.axes, mesh);
}

std::string toString(const DimSharding &dim, const Mesh *mesh, bool brief) {
  std::string text;
  for (const Factor &factor : dim.factors)
    text += (text.empty() ? "" : "|") +
            factorText(factor, mesh, brief && &factor == &dim.factors.back());
  if (dim.open)
    text += "?";
  if (text.empty())
    text = "-";
  if (dim.priority)
    text += " p" + std::to_string(dim.priority);
  return dim.view ? text + " " + toString(*dim.view) : text;
}

std::string toString(const Sharding &sharding, const Mesh *mesh, bool brief) {
  std::string text = "[";
  for (size_t i = 0; i < sharding.dims.size(); ++i)
    text += (i ? ", " : "") + toString(sharding.dims[i], mesh, brief);
  text += "]";
  // A partial says that the ranks along an axis hold tensors that still have to
  // be combined, for example added. Combining by addition is the kind `sum`.
  // Print neighboring partials of one kind together. For example, sums over x
  // and over y are printed as `partial sum(x+y)`.
  for (size_t i = 0; i < sharding.partials.size();) {
    ReductionKind kind = sharding.partials[i].kind;
    SubAxes axes;
    for (; i < sharding.partials.size() && sharding.partials[i].kind == kind;
         ++i)
      axes.push_back(sharding.partials[i].axis);
    text += std::string(" partial ") + toString(kind) + "(" +
            joinAxes(axes, mesh) + ")";
  }
  if (!sharding.replicated.empty())
    text += " replicated {" + joinAxes(sharding.replicated, mesh) + "}";
  return text;
}

namespace {
/// Recursive-descent parser of the grammar in ShardingText.h. On failure, each
/// method sets `error` and returns false.
class ShardingParser {
public:
  ShardingParser(std::string_view text, const Mesh *mesh, const Shape *shape)
      : text(text), mesh(mesh), shape(shape) {}
  /// Makes a parser that checks only the grammar. Sizes that are absent from
  /// the text count as 1.
  explicit ShardingParser(std::string_view text)
      : text(text), mesh(nullptr), shape(nullptr), isGrammarOnly(true) {}

  bool parse(Sharding &sharding) {
    if (!parseDims(sharding))
      return false;
    while (acceptWord("partial"))
      if (!parsePartial(sharding))
        return false;
    if (acceptWord("replicated") &&
        !(expect('{') && parseAxes(sharding.replicated) && expect('}')))
      return false;
    skipSpace();
    return at == text.size() || fail("end");
  }

  /// Message of the error after which a method returned false.
  std::string error;

private:
  bool parseDims(Sharding &sharding) {
    if (!expect('['))
      return false;
    if (accept(']'))
      return true;
    do {
      if (!parseDim(sharding.dims.emplace_back(), sharding.dims.size() - 1))
        return false;
    } while (accept(','));
    return expect(']');
  }

  /// Parses the sharding of dim number `index`. The text begins with one of:
  ///
  ///   -          The dim is whole: no axis splits the dim.
  ///   ?          No axis splits the dim yet, but propagation may split it.
  ///   3|64@tp    The dim has 3 * 64 elements. The axis tp splits each of the
  ///              3 blocks of 64 elements. A `?` behind this text means that
  ///              propagation may split the dim further.
  ///
  /// A priority may follow, such as `p1`. The search assigns axes to dims with
  /// a smaller priority first. A view may follow at the end: the word `view`
  /// and the text that parseView() parses.
  bool parseDim(DimSharding &dim, size_t index) {
    if (!accept('-') && !accept('?', dim.open)) {
      do {
        if (!parseFactor(dim.factors, index))
          return false;
      } while (accept('|'));
      accept('?', dim.open);
    }
    int64_t priority = 0;
    if (acceptWord("p") && !parseNumber(priority))
      return false;
    dim.priority = static_cast<int>(priority);
    return !acceptWord("view") || parseView(dim.view.emplace());
  }

  /// Parses a view without the word `view`. A view says which elements of a dim
  /// an op reads. Example:
  ///
  ///   (4x6 by 4 of 16: 0..6 from -1)
  ///
  ///  - `4x6`: The op reads 4 blocks of 6 elements. Example: 4 ranks read one
  ///    block each.
  ///  - `by 4`: Each block begins 4 elements after the block before it.
  ///  - `of 16`: Elements outside of the range 0 to 15 are read as 0.
  ///  - `0..6 from -1`: The indices 0 to 5 of the first block read the elements
  ///    -1 to 4 of the dim. A block can have several ranges of indices,
  ///    separated by commas. `step 2` behind a range means that the range reads
  ///    every second element of the dim.
  bool parseView(View &view) {
    if (!expect('(') || !parseNumber(view.blocks) || !expect('x') ||
        !parseNumber(view.length) || !expectWord("by") ||
        !parseInteger(view.pitch) || !expectWord("of") ||
        !parseNumber(view.limit) || !expect(':'))
      return false;
    while (!accept(')')) {
      ViewPiece &piece = view.pieces.emplace_back();
      if (!parseNumber(piece.lo) || !expectWord("..") ||
          !parseNumber(piece.hi) || !expectWord("from") ||
          !parseInteger(piece.source) ||
          (acceptWord("step") && !parseInteger(piece.step)) ||
          (peek() != ')' && !expect(',')))
        return false;
    }
    return true;
  }

  /// Parses one factor of dim number `dim`, and appends it to `factors`. A
  /// factor is a number of elements. The sizes of all factors multiply to the
  /// size of the dim. A factor has one of these forms:
  ///
  ///   3       size 3; no axis splits the factor
  ///   64@tp   size 64; the axis tp splits the factor
  ///   tp      the axis tp splits the factor; the text has no size
  ///
  /// The third form must be the last factor of the dim. Its size is the size of
  /// the dim divided by the sizes of the factors before it. For example, let
  /// the dim have the size 12. In the text `3|tp`, the factor `tp` has the size
  /// 12 / 3 = 4. In the text `tp`, the only factor has the size 12.
  bool parseFactor(std::vector<Factor> &factors, size_t dim) {
    int64_t before = 1;
    for (const Factor &factor : factors)
      if (__builtin_mul_overflow(before, factor.size, &before))
        before = 0;
    Factor &factor = factors.emplace_back();
    if (peekDigit())
      return parseNumber(factor.size) &&
             (!accept('@') || parseAxes(factor.axes));
    if (!parseAxes(factor.axes))
      return false;
    if (peek() == '|')
      return fail("a factor with its size, as in 64@" +
                  factor.axes.front().axis + ",");
    if (isGrammarOnly)
      return true;
    if (!shape)
      return fail("a size before the axes of dim " + std::to_string(dim));
    const int64_t size = dim < shape->size() ? (*shape)[dim] : 1;
    if (size < 0)
      return fail("the size of dim " + std::to_string(dim));
    if (before < 1 || size % before != 0)
      return fail("factors whose product divides " + std::to_string(size) +
                  ", the size of dim " + std::to_string(dim) + ",");
    factor.size = size / before;
    return true;
  }

  bool parseAxes(SubAxes &axes) {
    do {
      if (!parseAxis(axes.emplace_back()))
        return false;
    } while (accept('+'));
    return true;
  }

  /// Parses an axis or a part of an axis. Examples for an axis tp of size 8:
  ///
  ///   tp        the whole axis; its size, 8, comes from the mesh
  ///   tp:4      the first dim (4) after the axis is reshaped to [4, 2]
  ///   tp:(2)4   the last dim (4) after the axis is reshaped to [2, 4]
  bool parseAxis(SubAxis &axis) {
    if (!parseName(axis.axis))
      return false;
    if (accept(':'))
      return !accept('(') ? parseNumber(axis.size)
                          : parseNumber(axis.pre) && expect(')') &&
                                parseNumber(axis.size);
    if (isGrammarOnly)
      return true;
    if (!mesh)
      return fail("the size of axis '" + axis.axis + "'");
    axis.size = mesh->sizeOf(axis.axis);
    if (axis.size == 0)
      error = "axis '" + axis.axis + "' is not in the mesh" + axesText();
    return axis.size != 0;
  }

  /// Returns the end of a message about an unknown axis: "; its axes are dp and
  /// tp".
  std::string axesText() const {
    std::string text;
    for (size_t i = 0; i < mesh->axes.size(); ++i)
      text += (i == 0                      ? ""
               : i + 1 < mesh->axes.size() ? ", "
                                           : " and ") +
              mesh->axes[i].name;
    return mesh->axes.size() > 1    ? "; its axes are " + text
           : mesh->axes.size() == 1 ? "; its axis is " + text
                                    : "; it has no axes";
  }

  /// Parses the text after the word `partial`, such as `sum(tp)`. `sum(tp)`
  /// means that the ranks along the axis tp hold different addends, and that
  /// the true tensor is the sum of the addends. The other reductions are max,
  /// min, prod, and, and or.
  bool parsePartial(Sharding &sharding) {
    std::string name;
    SubAxes axes;
    if (!parseName(name))
      return false;
    std::optional<ReductionKind> kind = parseReductionKind(name);
    if (!kind)
      return fail("sum, max, min, prod, and or or");
    if (!expect('(') || !parseAxes(axes) || !expect(')'))
      return false;
    for (const SubAxis &axis : axes)
      sharding.partials.push_back({axis, *kind});
    return true;
  }

  bool parseName(std::string &name) {
    skipSpace();
    size_t begin = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) ||
            text[at] == '_' || text[at] == '.'))
      ++at;
    name = text.substr(begin, at - begin);
    return !name.empty() || fail("an axis, - or ?");
  }

  bool parseNumber(int64_t &value) {
    return (peekDigit() && parseInteger(value)) || fail("a number");
  }

  bool parseInteger(int64_t &value) {
    skipSpace();
    auto [end, code] =
        std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (code != std::errc())
      return fail("an integer");
    at = end - text.data();
    return true;
  }

  void skipSpace() {
    while (at < text.size() &&
           std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  char peek() {
    skipSpace();
    return at < text.size() ? text[at] : '\0';
  }
  bool peekDigit() { return std::isdigit(static_cast<unsigned char>(peek())); }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  bool accept(char c, bool &flag) { return accept(c) ? (flag = true) : false; }
  bool acceptWord(std::string_view word) {
    peek();
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }
  bool expectWord(std::string_view word) {
    return acceptWord(word) || fail("'" + std::string(word) + "'");
  }
  bool expect(char c) { return accept(c) || fail(std::string("'") + c + "'"); }
  bool fail(const std::string &expected) {
    error = "expected " + expected + " at character " + std::to_string(at + 1) +
            ", got '" + std::string(text) + "'";
    return false;
  }

  std::string_view text;
  const Mesh *mesh;
  const Shape *shape;
  bool isGrammarOnly = false;
  size_t at = 0;
};
} // namespace

/// Parses a sharding and returns it exactly as the user has written it. The
/// function canonical() would change the sharding. For example, it turns
/// [4@tp|3] into [12@tp] if tp has size 2. The caller can first pass the
/// unchanged sharding to findError(). The error messages of findError() then
/// name the dims and axes that the user has written.
static StatusOr<Sharding> parseAsWritten(std::string_view text,
                                         const Mesh *mesh, const Shape *shape) {
  Sharding sharding;
  ShardingParser parser(text, mesh, shape);
  if (!parser.parse(sharding))
    return Status::error(CannotMeet, parser.error);
  SubAxes axes = axesUsed(sharding);
  axes.insert(axes.end(), sharding.replicated.begin(),
              sharding.replicated.end());
  for (const SubAxis &axis : axes)
    if (axis.pre == 0 || axis.size == 0)
      return Status::error(CannotMeet, "a part of axis '" + axis.axis +
                                           "' has size 0, got '" +
                                           std::string(text) + "'");
  return sharding;
}

StatusOr<Sharding> parseSharding(std::string_view text, const Mesh *mesh,
                                 const Shape *shape) {
  PCC_ASSIGN_OR_RETURN(Sharding sharding, parseAsWritten(text, mesh, shape));
  return canonical(std::move(sharding));
}

StatusOr<Sharding> parseSharding(std::string_view text, const Mesh &mesh,
                                 const Shape &shape) {
  PCC_ASSIGN_OR_RETURN(Sharding sharding, parseAsWritten(text, &mesh, &shape));
  if (hasView(sharding))
    return Status::error(CannotMeet,
                         "no value can have a view as its sharding");
  if (std::optional<std::string> problem = findError(sharding, mesh, shape))
    return Status::error(CannotMeet, *problem);
  return canonical(std::move(sharding));
}

std::string checkSyntax(std::string_view text) {
  Sharding sharding;
  ShardingParser parser(text);
  return parser.parse(sharding) ? "" : parser.error;
}

} // namespace pcc::dist
