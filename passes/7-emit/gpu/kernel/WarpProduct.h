//===- WarpProduct.h - small matrix products on tensor cores --------------===//
//
// The 32 threads of a warp multiply a left matrix of 16 rows with a right
// matrix of 8 columns (the instruction mma.m16n8). The elements of the
// contraction are processed in groups of eight. In each group, a thread holds
// two neighboring elements of its rows and of its column:
//
//   left, 16 x 8              right, 8 x 8              sums, 16 x 8
//   row g:      t0 t1 t2 t3   rows 0, 1:  t0 of col g   row g:      t0 t1 t2 t3
//   row g + 8:  t0 t1 t2 t3   rows 2, 3:  t1 of col g   row g + 8:  t0 t1 t2 t3
//
// with g = lane / 4, quad = lane % 4, and two elements at each t<quad>. Sums
// have the layout of a left operand, so that they can become the left operand
// of another product without data movement.
//
// bf16 and f16 are multiplied exactly and summed in f32. An f32 is split into
// two tf32 numbers of 11 bits. The three larger ones of their four products are
// summed (Ootomo and Yokota 2022; 3xTF32 of CUTLASS), with a relative error of
// about 2^-21 per product. An infinite f32 has no finite rest, so that its sums
// are NaN.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H

#include "passes/7-emit/kernel/Writer.h"

namespace pcc::emit {

/// Matrix in the shared memory of a block of threads.
struct SharedMatrix {
  /// Pointer to the first element of the matrix. The pointer is aligned to 16
  /// bytes.
  mlir::Value memory;
  /// Number of elements from one row of the matrix to the next. A row must
  /// begin at a multiple of 16 bytes.
  int64_t pitch;
};

/// Emits products of small matrices on tensor cores. Each matrix is distributed
/// over the 32 threads of a warp, which must execute the code together.
class WarpProduct {
public:
  /// Sizes of a matrix product left · right. `rows` is the number of rows of
  /// the left matrix. `columns` is the number of columns of the right matrix.
  /// The left matrix has as many columns as the right matrix has rows. This
  /// number is a multiple of `depth`. Example: a 16 x 24 matrix is multiplied
  /// by a 24 x 8 matrix, and 24 is a multiple of 8.
  static constexpr int64_t rows = 16, columns = 8, depth = 8;
  /// Number of threads of a warp (lanes) that share a row of a 16 x 8 result.
  static constexpr int64_t lanesOfRow = 4;

  /// Two neighboring elements of an operand: two values for f32, one packed i32
  /// for bf16 and f16.
  using Pair = llvm::SmallVector<mlir::Value, 2>;
  /// Elements that one thread holds of the left matrix of a matrix product. The
  /// left matrix has 16 rows and 8 columns. The 128 elements of the left matrix
  /// are distributed over the 32 threads of a warp. Thread t of the warp holds
  /// four elements:
  ///
  ///   field    row         columns
  ///   top      t / 4       2 (t % 4) and the next column
  ///   bottom   t / 4 + 8   2 (t % 4) and the next column
  ///
  /// Example: thread 5 holds columns 2 and 3 of rows 1 and 9.
  struct Left {
    Pair top, bottom;
  };
  /// The four elements of a 16 x 8 result that one thread holds. The elements
  /// are of type f32. Thread t of the warp holds these elements, where g is
  /// t / 4 and c is 2 (t % 4):
  ///
  ///   element   row     column
  ///   0         g       c
  ///   1         g       c + 1
  ///   2         g + 8   c
  ///   3         g + 8   c + 1
  ///
  /// Example: for thread 5, g is 1 and c is 2. The thread holds columns 2 and 3
  /// of rows 1 and 9.
  using Sums = llvm::SmallVector<mlir::Value, 4>;

  /// Prepares to emit matrix products left · right for the current thread.
  /// `element` is the element type of the left matrix and of the right matrix:
  /// f32, bf16 or f16. The elements of the result are always f32. `thread` is
  /// the index of the current thread in its block. `w` emits the code. `w` must
  /// outlive this object.
  WarpProduct(KernelWriter &w, mlir::Type element, const Index &thread);

  /// Returns the first of the two rows of a 16 x 8 result in which this thread
  /// holds elements. Thread t of the warp holds elements of rows g and g + 8,
  /// where g is t / 4. Example: thread 5 holds elements of rows 1 and 9, so the
  /// function returns 1.
  const Index &row() const { return g; }
  /// Returns the first of this thread's two neighboring columns of a 16 x 8
  /// result: 0, 2, 4 or 6.
  const Index &pair() const { return twoQuads; }
  /// Returns the index of this thread's warp in the block.
  const Index &warp() const { return warpNumber; }

  /// Returns this thread's elements of a 16 x 8 result that is 0 everywhere.
  Sums zeros() const;
  /// Emits the conversion of `first` and `second` from f32 to the element type
  /// of the left and the right matrix of a product. Returns the two converted
  /// numbers as follows:
  ///
  ///   f32            two values, `first` and `second` themselves
  ///   bf16 or f16    one i32, with `first` in the lower 16 bits and `second`
  ///                  in the upper 16 bits
  Pair pairOf(mlir::Value first, mlir::Value second) const;
  /// Emits the conversion of the result of one matrix product to the left
  /// operand of another matrix product. The result and the left operand are 16
  /// x 8 matrices. A thread holds four elements of each matrix. `sums` are the
  /// four elements of the result that this thread holds. The positions of the
  /// four elements are the same in both matrices. Threads therefore exchange no
  /// elements. Each thread only converts its elements from f32 to the element
  /// type of operands.
  Left leftOf(llvm::ArrayRef<mlir::Value> sums) const;

  /// Emits code in which a warp loads the right operand of a matrix product
  /// left · right. The right operand has `count` rows and 8 columns. `count`
  /// must be a multiple of 8. Column j of the right operand consists of the
  /// first `count` elements of row `row` + j of `matrix`. Example: if `row` is
  /// 16, column 2 of the right operand comes from row 18 of `matrix`.
  ///
  /// Returns the elements of the right operand that this thread loads. Each
  /// entry of the returned list is a pair of elements. Entry i of thread t of
  /// the warp has the elements in rows 8 i + k and 8 i + k + 1 of column t / 4,
  /// where k is 2 (t % 4). Example: for thread 5, t / 4 is 1 and k is 2. Entry
  /// 0 has rows 2 and 3 of column 1. Entry 1 has rows 10 and 11 of column 1.
  std::vector<Pair> rightFromRows(const SharedMatrix &matrix, int64_t row,
                                  int64_t count) const;
  /// Emits code in which a warp loads the right operand of a matrix product
  /// left · right. The right operand is the part of `matrix` with `count` rows
  /// from `row` on and 8 columns from `column` on. `count` must be a multiple
  /// of 8.
  ///
  /// Returns the elements that this thread loads, as a list of pairs. Entry i
  /// of thread t of the warp has the elements in rows 8 i + k and 8 i + k + 1
  /// of column t / 4, where k is 2 (t % 4). Example: entry 0 of thread 5 has
  /// rows 2 and 3 of column 1.
  std::vector<Pair> rightFromColumns(const SharedMatrix &matrix, int64_t column,
                                     int64_t row, int64_t count) const;

  /// Emits sums + left · right. `sums` and the result are 16 x 8 matrices. The
  /// left operand has 16 rows, and 8 columns for each entry of `left`. The
  /// right operand has 8 columns, and 8 rows for each entry of `right`.
  /// Example: with 2 entries each, a 16 x 16 matrix is multiplied by a 16 x 8
  /// matrix.
  ///
  /// All arguments and the result contain only the elements that this thread
  /// holds. Entry 0 of `left` holds elements of columns 0 to 7 of the left
  /// operand, and entry 1 holds elements of columns 8 to 15. Entry 0 of `right`
  /// holds elements of rows 0 to 7 of the right operand, and entry 1 holds
  /// elements of rows 8 to 15.
  Sums add(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<Left> left,
           llvm::ArrayRef<Pair> right) const;

private:
  /// Returns whether the left and the right matrix of a product have elements
  /// of type f32. The product of a 16 x 8 matrix and an 8 x 8 matrix takes
  /// three tensor core instructions if the elements are f32. This product takes
  /// one instruction if the elements are bf16 or f16.
  bool isWide() const { return element.isF32(); }
  /// Emits the conversion of `value` from f32 to a type of 16 bits. The member
  /// `element` is this type, bf16 or f16. Returns the 16 bits of the converted
  /// number as an i16.
  mlir::Value bitsOf(mlir::Value value) const;
  /// Emits sums + left · right for operands of type f32. The left operand is a
  /// 16 x 8 matrix. The right operand is an 8 x 8 matrix. `sums` and the result
  /// are 16 x 8 matrices. All arguments and the result contain only the
  /// elements that this thread holds.
  Sums addWide(llvm::ArrayRef<mlir::Value> sums, const Left &left,
               const Pair &right) const;
  /// Emits one tensor core instruction, which computes sums + left · right. The
  /// left operand is a 16 x k matrix, and the right operand is a k x 8 matrix.
  /// k is 8 if the operands are f32. If the operands are bf16 or f16, k is 8 or
  /// 16. `left` and `right` are the registers in which this thread holds
  /// elements of the operands.
  Sums multiply(llvm::ArrayRef<mlir::Value> sums,
                llvm::ArrayRef<mlir::Value> left,
                llvm::ArrayRef<mlir::Value> right) const;
  /// Positions of the elements of a matrix in shared memory. The matrix is the
  /// right operand of a matrix product, and has 8 columns. The element in row k
  /// and column j has the position `start` + k · `inside` + j · `across`. All
  /// positions are counted in elements.
  ///
  ///   start    position of the element in row 0 and column 0
  ///   inside   distance from one row to the next, within a column
  ///   across   distance from one column to the next
  ///
  /// Example: `start` is 1024, `inside` is 1 and `across` is 64. The element in
  /// row 3 and column 2 has the position 1024 + 3 · 1 + 2 · 64 = 1155.
  struct Steps {
    int64_t start, inside, across;
  };
  /// Emits code in which a warp loads the right operand of a matrix product
  /// left · right. The right operand has `count` rows and 8 columns. `count`
  /// must be a multiple of 8. `matrix` contains the right operand. The element
  /// in row r and column c of the right operand has the position `steps.start`
  /// + r · `steps.inside` + c · `steps.across` in `matrix`. Positions are
  /// counted in elements.
  ///
  /// Returns the elements of the right operand that this thread loads. Each
  /// entry of the returned list is a pair of elements. Entry i of thread t of
  /// the warp has the elements in rows 8 i + k and 8 i + k + 1 of column t / 4,
  /// where k is 2 (t % 4). Example: for thread 5, t / 4 is 1 and k is 2. Entry
  /// 0 has rows 2 and 3 of column 1. Entry 1 has rows 10 and 11 of column 1.
  std::vector<Pair> load(const SharedMatrix &matrix, const Steps &steps,
                         int64_t count) const;
  /// Emits the loads of two elements of the right operand of a matrix product.
  /// The operand has 8 rows and 8 columns. The elements are of type f32. Thread
  /// t of the warp loads rows k and k + 1 of column t / 4, where k is
  /// 2 (t % 4). Example: thread 5 loads rows 2 and 3 of column 1.
  ///
  /// `matrix` contains the operand. Positions in `matrix` are counted in
  /// elements. `start` is the position of the operand's first element.
  /// `steps.inside` is the distance from one row of the operand to the next.
  /// `steps.across` is the distance from one column of the operand to the next.
  /// Example: the element in row 2 and column 1 has the position `start` + 2 ·
  /// `steps.inside` + 1 · `steps.across`.
  Pair loadPair(const SharedMatrix &matrix, const Steps &steps,
                int64_t start) const;
  /// Emits one ldmatrix instruction, which loads `count` (1, 2 or 4) squares
  /// from shared memory. A square is a part of `matrix` with 8 rows and 8
  /// columns. Each element has 16 bits. Square i begins at the position
  /// `start` + i · `step` in `matrix`. The rows of a square are `matrix.pitch`
  /// apart. All positions are counted in elements. Returns one pair of elements
  /// per square. Thread t of the warp gets columns c and c + 1 of row t / 4,
  /// where c is 2 (t % 4). If `isTransposed` is true, rows and columns are
  /// exchanged.
  std::vector<Pair> loadSquares(const SharedMatrix &matrix, int64_t start,
                                int64_t step, int64_t count,
                                bool isTransposed) const;

  KernelWriter &w;
  const mlir::Type element;
  /// Numbers of this thread. A warp computes a matrix with 16 rows and 8
  /// columns, and each thread of the warp holds four elements of this matrix:
  ///
  ///   lane         index of the thread in its warp
  ///   g            lane / 4: the thread holds elements of rows g and g + 8
  ///   twoQuads     2 (lane % 4): the thread holds elements of columns twoQuads
  ///                and twoQuads + 1
  ///   warpNumber   index of the warp in the block
  ///
  /// Example: if lane is 5, g is 1 and twoQuads is 2. The thread holds the
  /// elements in columns 2 and 3 of rows 1 and 9.
  Index lane, g, twoQuads, warpNumber;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_WARPPRODUCT_H
