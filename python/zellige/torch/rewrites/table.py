"""The table of all rewrites of torch graphs, in the order in which they are applied (rule.py). No rewrite changes a value beyond the
roundings that programs may omit (docs/reference/verdicts.md).

Rows of the levels decomposition and meaning, and the one without targets, are applied where an operator is translated, and counted
there. tests/python/rewrites has graphs for each row on which its condition holds, and graphs on which it is broken.
"""

import torch

from ..import_ import custom
from . import (
    attention, channels_last, constants, counts, documents, empty, expansions, in_place, lengths, masks, modules, numbers, order, permutations, pools, positions,
    ranges, results, short_sums, speculation, spellings, weights, windows,
)  # fmt: skip
from .rule import OUTPUT, Level, Rewrite

aten = torch.ops.aten
_SUPPORTED = "programs have the dtype"

TABLE = (
    Rewrite(Level.decomposition, "variance and mean", _SUPPORTED),
    Rewrite(Level.decomposition, "group norm by its statistics", _SUPPORTED),
    Rewrite(Level.decomposition, "concatenation without empty tensors", "some tensors have no elements and some have; all have one dtype"),
    Rewrite(Level.decomposition, "gated linear unit of halves", _SUPPORTED),
    Rewrite(Level.decomposition, "cells of an LSTM", "a layer on the CPU in a dtype of programs, of at most 256 steps, in inference"),
    Rewrite(Level.decomposition, "layer of an encoder", "there is no mask, and all tensors have one dtype of programs"),
    Rewrite(Level.decomposition, "attention of a layer", "no weights are asked for, there is no mask, and all tensors have one dtype and width"),
    Rewrite(Level.decomposition, "attention by functions of positions",
            "score_mod and mask_mod of flex_attention consist of elementwise operators and of elements of captured tensors; queries, keys and"
            " values have one dtype of programs"),
    Rewrite(Level.decomposition, "distances of rows", "the exponent is 1, 2 or infinity, and the dtype one of programs"),
    Rewrite(Level.decomposition, "bilinear product of matrices", "the operands are those of torch.nn.Bilinear, in one dtype of programs"),
    Rewrite(Level.decomposition, "padding by concatenation", "the dtype is one of programs, and so is the number"),
    Rewrite(Level.decomposition, "repetition by expanding", "nothing is repeated 0 times, and the dimensions are at most 8"),
    Rewrite(Level.decomposition, "copied row by its number",
            "one row is copied, by an int64 index that is checked not to be negative, in a dtype of programs"),
    Rewrite(Level.decomposition, "selection by a filling tensor",
            "the filling tensor has one element without dimensions, and the dtype of the other"),
    Rewrite(Level.decomposition, "dtype of a further result",
            "torch declares another dtype than its kernel returns: float32 for the running statistics of a batch norm in 16 bits"),
    Rewrite(Level.layout, "convolution in channels-last",
            "a floating-point convolution of images on a GPU with at least 4 channels of output, where it saves time; what the graph"
            " returns keeps its strides",
            OUTPUT, channels_last.convert),
    Rewrite(Level.layout, "max pool by rows",
            "a max pool on a GPU, in channels-last, of which nothing reads the places",
            (pools.POOL,), pools.pool_of_rows),
    Rewrite(Level.layout, "bias of a convolution",
            "torch adds the bias by a kernel of its own, to a result of the same strides, and an operator that programs have reads the"
            " result",
            (aten.convolution.default,), speculation.separate_bias),
    Rewrite(Level.layout, "average pool as a mean",
            "each window has the same size, and the image lies in one of the two orders",
            (speculation.POOL,), speculation.pool_as_mean),
    Rewrite(Level.spelling, "operator without elements",
            "the result has no elements and nothing may be out of range, or no operand has elements and the result is one number"
            " everywhere; the operator draws no random numbers and changes nothing",
            OUTPUT, empty.constants),
    Rewrite(Level.spelling, "tensor of one number",
            "a tensor of one number is made in the shape of another one, whose elements are not read, and is not to be changed",
            tuple(empty.FILLED), empty.filled),
    Rewrite(Level.spelling, "extreme without its place",
            "nothing reads the places of max or min along a dimension",
            (aten.max.dim, aten.min.dim), spellings.extreme),
    Rewrite(Level.spelling, "strides of a view",
            "as_strided reads all elements of a contiguous tensor, in their order",
            (aten.as_strided.default,), spellings.in_order),
    Rewrite(Level.spelling, "selection of consecutive rows",
            "one dimension is selected by a constant vector of integers that count up from one of at least 0, each as often as the others;"
            " or constant numbers select all elements in their order; the result is contiguous",
            (aten.index.Tensor, aten.index_select.default), spellings.counted),
    Rewrite(Level.spelling, "bound by one number",
            "one operand of maximum or minimum is a constant with one number, not NaN, as its dtype rounds it; the other one has the"
            " result's shape and floating-point dtype",
            (aten.maximum.default, aten.minimum.default), spellings.bound),
    Rewrite(Level.spelling, "gelu by its formula",
            "x, 1 + erf(x / sqrt(2)) and 1/2 are multiplied, the root with seven digits, in x's shape and dtype",
            (aten.erf.default,), spellings.gelu),
    Rewrite(Level.spelling, "batch of one",
            "the factors of a batched matmul, and its bias, have one batch; the factor of the product is not 0",
            (aten.bmm.default, aten.baddbmm.default), spellings.single),
    Rewrite(Level.spelling, "selection that bounds decide",
            "integers are compared that topk or sort returned, so that they are below a known number, and every one of them compares in"
            " the same way; the result has the operand's layout, and is not returned",
            (aten.where.self, aten.masked_fill.Scalar, aten.clamp.default), ranges.decided_selection),
    Rewrite(Level.spelling, "counts by positions",
            "a running sum of the counts of each number from 0 on, in a vector that is sorted and not descending, of integers with a"
            " known bound that its casts keep",
            (aten.cumsum.default,), counts.positions),
    Rewrite(Level.spelling, "sort of narrow integers",
            "a vector of more than 128 int64 is sorted, whose bound fits fewer bits; its numbers are read by searches alone",
            ranges.SORTS, ranges.narrow_sort),
    Rewrite(Level.spelling, "permutation that is undone",
            "rows are permuted by the indices of a sort, and by their inverse after elementwise operators; no more tensors are permuted"
            " than before, and no other memory is returned",
            (permutations.ROWS,), permutations.exchanged),
    Rewrite(Level.spelling, "sum of slices",
            "a floating-point sum without another dtype, over one dimension of 2 to 8 elements that is not the last one, of rows of more"
            " than 8 elements",
            (aten.sum.dim_IntList,), short_sums.sum_of_slices),
    Rewrite(Level.spelling, "keys of a token's own sequence",
            "the numbers of the sequences of all tokens are compared with each other; a search with right=True found them, of 0, 1, 2, ... in"
            " a vector of integers that is sorted and no constant",
            (aten.eq.Tensor,), documents.same_sequence),
    Rewrite(Level.spelling, "keys of a token's own run",
            "the numbers of all tokens of a row are compared with each other; they are one running sum of bools along the row, and no constant",
            (aten.eq.Tensor,), documents.same_run),
    Rewrite(Level.spelling, "selection by position",
            "where or masked_fill selects x in the result's shape and dtype, or one number that is not NaN; the constants among the conjuncts"
            " of its condition, evaluated, are one band of diagonals of the last two dimensions, perhaps with an end in each row or column,"
            " the same for all others",
            (aten.where.self,), masks.selection),
    Rewrite(Level.spelling, "added mask by position",
            "what is added is 0 in such a band and one number below -1e30 elsewhere, or a selection of these by such a condition; only"
            " softmaxes along the last dimension read the sum, or its casts, views and positive multiples; the scores that it hides are finite",
            (aten.add.Tensor,), masks.addition),
    Rewrite(Level.spelling, "mask of attention by position",
            "the mask of attention is 0 in such a band and -inf elsewhere, or a selection of these by such a condition, or the sum of a bias and"
            " such a mask; hidden keys, values and biases are finite",
            (custom.ATTENTION,), masks.of_attention),
    Rewrite(Level.spelling, "selection by lengths",
            "where or masked_fill selects x in the result's shape and dtype, or one number that is not NaN; a conjunct of its condition"
            " compares the numbers of the last dimension with integers that are no constant and have one element along it",
            (aten.where.self,), lengths.selection),
    Rewrite(Level.spelling, "mask of attention by lengths",
            "the mask of attention is 0 where such a conjunct holds, with others or not, and -inf elsewhere; hidden keys and values are"
            " finite",
            (custom.ATTENTION,), lengths.of_attention),
    Rewrite(Level.spelling, "repeated keys of attention",
            "in 16 bits without a mask tensor; keys and values are expanded from (batch, heads, 1, keys, size) to several per head, and"
            " viewed as heads",
            (custom.ATTENTION,), attention.repeated_keys),
    Rewrite(Level.spelling, "attention written out",
            "in 16 bits; a softmax along keys of q k^T, times a positive finite number, masked by position or not; a mask hides the keys"
            " after a query, in the softmax's last two dimensions; nothing else reads what is between; one cast at most after the softmax",
            (aten.bmm.default,), attention.written_out),
    Rewrite(Level.spelling, "copy around attention",
            "a copy has the strides of what it copies, and the graph returns no view of it",
            (aten.clone.default,), attention.copy_around),
    Rewrite(Level.spelling, "embedding by 32-bit numbers",
            "the table has a dtype of programs; each index is known to be in range, or checked before it loses its upper bits",
            (aten.embedding.default,), numbers.embedding),
    Rewrite(Level.spelling, "pages by 32-bit numbers",
            "the first dimension of a cache of three or more, in a dtype of programs, is indexed by a table of integers that is no"
            " constant; each is checked before it loses its upper bits",
            (aten.index.Tensor,), numbers.pages),
    Rewrite(Level.spelling, "check of numbers in range",
            "the numbers of all rows are selected by int64 or int32 numbers, which are known to be in range",
            (aten.index_select.default, aten.index.Tensor), numbers.unneeded_check),
    Rewrite(Level.spelling, "replaced row by a 32-bit number",
            "one dimension is indexed, by one integer in a tensor of one element; nothing accumulates; the index is known to be in range, or"
            " checked before it loses its upper bits",
            (aten.index_put.default,), numbers.replaced_row),
    Rewrite(Level.spelling, "choice of tensors by numbers",
            "the result has a floating-point dtype and dimensions, and both tensors have its dtype",
            (aten.where.self,), numbers.choice),
    Rewrite(Level.spelling, "choice of a number by numbers",
            "the result has a floating-point dtype and dimensions, the tensor has its dtype and shape, and the number is rounded to it",
            (aten.where.self,), numbers.choice_of_a_number),
    Rewrite(Level.spelling, "comparison as numbers",
            "floating-point tensors with dimensions are compared, with each other in one dtype or with a number, which is rounded to the"
            " tensor's dtype",
            (aten._to_copy.default,), numbers.comparison),
    Rewrite(Level.spelling, "product of complex numbers",
            "one factor is made of pairs of real numbers, and the product has its shape",
            (aten.view_as_real.default,), numbers.complex_product),
    Rewrite(Level.spelling, "weight of 4 bits in rows",
            "the packed weight, or what it is packed of in the graph, and its scales are given; a group divides K, and scales have the"
            " activation's dtype",
            weights.PRODUCTS, weights.in_rows),
    Rewrite(Level.spelling, "bags of equal length",
            "all bags have one number of rows above 0, as constants say; no row is left out, and nothing reads the places of maxima",
            modules.BAGS, modules.bags),
    Rewrite(Level.expansion, "products of groups by their rows",
            "rows of one matrix are sorted by group, of which each has a matrix, in a dtype of programs, without a bias; at most 64 rows, or rows and"
            " matrices of fewer than 2^24 elements",
            (aten._grouped_mm.default,), modules.grouped),
    Rewrite(Level.expansion, "counts by comparisons",
            "a histogram in float32 of integers, with one bin for each number from 0 on; they are known to be in range",
            (aten.histc.default,), modules.counted),
    Rewrite(Level.expansion, "rows added in their order",
            "constant numbers name every row, in order and each as often as the others; all tensors have one floating-point dtype of programs",
            (aten.index_add.default,), modules.added_rows),
    Rewrite(Level.expansion, "transposed convolution of spread elements",
            "a transposed convolution in row-major order and a dtype of programs that is none of adjacent windows; image, weights and result"
            " have fewer than 2^24 elements each",
            (aten.convolution.default,), modules.transposed),
    Rewrite(Level.expansion, "unpooling by a scatter",
            "a dtype of programs; each element has the place of one",
            tuple(modules.UNPOOLS), modules.unpooled),
    Rewrite(Level.expansion, "adaptive max pool of windows",
            "floating-point elements of a dtype of programs; windows of one size, or of fewer than 2^24 elements of which nothing reads the places",
            tuple(windows.ADAPTIVE_MAXIMA), windows.adaptive_maximum),
    Rewrite(Level.expansion, "average pool of views",
            "floating-point elements of a dtype of programs; windows of at most 64 places, or any that are adjacent",
            tuple(windows.AVERAGES), windows.average),
    Rewrite(Level.expansion, "max pool of views",
            "likewise",
            tuple(windows.MAXIMA), windows.maximum),
    Rewrite(Level.expansion, "average pool by constant numbers",
            "an adaptive pool of floating-point elements of a dtype of programs, of fewer than 2^24 in all windows",
            tuple(windows.ADAPTIVE), windows.adaptive),
    Rewrite(Level.expansion, "overlapping windows by constant numbers",
            "col2im of floating-point elements of a dtype of programs, of fewer than 2^24 in all windows",
            (aten.col2im.default,), windows.overlapped),
    Rewrite(Level.expansion, "movement by constant numbers",
            "an operator moves elements by their places alone, and its operand and result have fewer than 2^24 elements each, in a dtype of"
            " programs",
            tuple(expansions.MOVEMENTS), expansions.movement),
    Rewrite(Level.expansion, "elements of a row by comparison",
            "at most four floating-point elements of each row are selected, by int64 numbers that are known to be in range or torch's kernel checks,"
            " of what an elementwise operator or a softmax has computed; of a graph on a GPU no check is needed",
            (aten.gather.default,), expansions.element, open=True),
    Rewrite(Level.expansion, "elements by numbers",
            "elements are selected by int64 or int32 numbers along one dimension, which are known to be in range or torch's kernel checks, or by"
            " constant ones; the tensor has a dtype of programs and fewer than 2^31 elements; of a graph on a GPU no check is needed",
            tuple(expansions.SELECTIONS), expansions.selection, open=True),
    Rewrite(Level.expansion, "elements replaced by numbers",
            "a scatter on the CPU, or by numbers that are known to be in range, in a dtype of programs, of fewer than 2^24 pairs of a number and"
            " a position; the extents agree along the other dimensions; it replaces, adds, or takes maxima or minima",
            expansions.SCATTERS, expansions.replacement, open=True),
    Rewrite(Level.expansion, "place of an extreme",
            "a dimension of fewer than 2^24 elements in a dtype of programs; the first one of equal elements, or of NaNs, is meant",
            tuple(expansions.EXTREMES), expansions.extreme, open=True),
    Rewrite(Level.expansion, "order by comparisons",
            "a sort or topk along at most 512 elements, in a dtype of programs, of fewer than 2^24 pairs",
            (*order.SORTS, order.TOPK), order.sort, open=True),
    Rewrite(Level.expansion, "masked elements by a running count",
            "masked_scatter of at most 65536 elements in a dtype of programs, from no fewer",
            (aten.masked_scatter.default,), order.filled),
    Rewrite(Level.expansion, "distances of pairs",
            "the exponent is 1, 2 or infinity, and the dtype one of programs; there are fewer than 2^24 pairs of elements",
            (aten._pdist_forward.default,), order.distances),
    Rewrite(Level.expansion, "running sum in blocks",
            "a dimension of at most 65536 elements, in a dtype of programs",
            (aten.cumsum.default,), expansions.running_sum, open=True),
    Rewrite(Level.expansion, "number in a large shape",
            "a tensor of one number has 1024 elements or more, or an open size; elementwise operators and concatenations alone read it",
            (aten.full.default,), empty.expanded_number, open=True),
    Rewrite(Level.expansion, "positions up to an open size",
            "integers from a constant on, by a constant step, end at an open size, and there are never more than 65536",
            tuple(empty.COUNTED), empty.positions, open=True),
    Rewrite(Level.result, "layout of a result",
            "a rewrite has changed the strides of what the graph returns: attention has those of its queries",
            OUTPUT, results.laid),
    Rewrite(Level.result, "view of a function of positions",
            "a constant has at least 1024 elements and follows by at most 8 sums, products and extremes of float32 or integers from constants"
            " with an eighth of them; what reads it is elementwise, or attention",
            (aten.unsqueeze.default,), positions.raised),
    Rewrite(Level.result, "constant computed while compiling",
            "a tensor depends on no input and draws no random numbers, and is not too large or such a function",
            OUTPUT, constants.fold),
    Rewrite(Level.result, "copy of a constant output",
            "a graph returns a constant or a view of it, which its caller may change",
            OUTPUT, constants.copy_outputs),
    Rewrite(Level.meaning, "sum with a factor", "the factor is a number in the range of the dtype"),
    Rewrite(Level.meaning, "product and bias with factors",
            "the factor of the product is not 0, because torch does not read the matrices then; the bias broadcasts to the product and is"
            " not read if its factor is 0"),
    Rewrite(Level.meaning, "power as products and roots",
            "the exponent is 1/2, -1/2, 3, -1 or -2, for which torch's kernels do so; of f16 on the CPU no root"),
    Rewrite(Level.meaning, "operand without dimensions as the result",
            "the result of an elementwise operator has 16 bits, and the operand another dtype; on the CPU it is not the second factor or"
            " the divisor"),
    Rewrite(Level.meaning, "limits as extremes", "the limits are numbers in the range of the dtype, and are rounded to it"),
    Rewrite(Level.meaning, "every part of a slice", "the step divides the extent, and each part has one element of the slice"),
    Rewrite(Level.meaning, "layer norm with its statistics", "the last dimension alone is normalised"),
    Rewrite(Level.meaning, "batch norm by given statistics",
            "the statistics, weight and bias have the dtype of the tensor, or all float32"),
    Rewrite(Level.meaning, "variance of a corrected count", "there are more elements than the correction"),
    Rewrite(Level.meaning, "rows of a matrix",
            "the operator is elementwise by torch's tags, or a norm or reduction along the last dimension alone that keeps it; each"
            " operand has a row for each row of an activation that a matmul reads or makes, or one for all"),
    Rewrite(Level.meaning, "attention of a chain",
            "a softmax along keys of an elementwise chain on q k^T, in the shape (batch, heads, queries, keys) throughout, cast to the"
            " dtype of v at most; q, k and v have these batches and heads"),
    Rewrite(Level.meaning, "heads as rows", "several query heads share keys; no mask depends on a query's position, or there is one query"),
    Rewrite(Level.call, "change where a tensor lies",
            "the graph has computed the tensor, with the result's strides, and nothing else reads it",
            tuple(in_place.IN_PLACE), in_place.update),
    Rewrite(Level.call, "packed weight of torch's kernel",
            "no program has computed the product",
            (custom.INT4_MM,), weights.restore),
    Rewrite(Level.call, "torch's own binding",
            "torch's function of the operator's name calls the operator, returns what torch declared, and has a name that fx can write"),
)  # fmt: skip


def rows(level) -> list:
    """Returns the rows of a level that change graphs."""
    return [row for row in TABLE if row.level is level and row.function is not None]


def row(name) -> Rewrite:
    return next(row for row in TABLE if row.name == name)
